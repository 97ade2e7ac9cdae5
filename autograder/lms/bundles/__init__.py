"""Archives that bring an assignment into another system: Gradescope's autograder, Common Cartridge."""
