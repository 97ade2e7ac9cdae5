"""What turns the bytes of a file into a notebook, or says why there is none in it."""
