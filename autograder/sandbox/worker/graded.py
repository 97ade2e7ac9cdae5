"""
Test cells that are judged by how they end: run as they were handed out, whatever cells before have changed.

A notebook may change how IPython reads, compiles, runs and shows cells, and
nbgrader believes what such a shell shows. Here a test cell is parsed from the
text that the grader sends, the shell's own ways are put back while it runs, and
a mark behind its last statement tells that the end was reached, and with which
value. Code in this process that knows the mark can still call it; what is to
be safe from that is asked from outside, by hidden checks.
"""

from __future__ import annotations

import ast
import builtins
import secrets
import sys
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any

from IPython.core.inputtransformer2 import TransformerManager

from autograder.sandbox.worker.ending import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from IPython.core.interactiveshell import InteractiveShell

# As they are before any student's code runs.
_BUILTINS = {name: getattr(builtins, name) for name in ("compile", "exec", "eval", "__import__", "print")}
_compile = compile
_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
# Who is told of the result may change it.
_EVENTS = ("pre_run_cell", "post_run_cell")
_TRAITS = (
    "ast_transformers",
    "ast_node_interactivity",
    "input_transformer_manager",
    "input_transformers_post",
)


class Ways:
    """
    How a fresh shell reads, compiles and runs cells.

    Parameters
    ----------
    shell : InteractiveShell
        A shell in which no student's cell has run.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._compiler = shell.compile
        self._interactivity = shell.ast_node_interactivity
        self._own = frozenset(vars(shell))
        parts = (shell, shell.displayhook, shell.compile, shell.events)
        kinds = {kind for part in parts for kind in type(part).__mro__ if kind.__module__ != "builtins"}
        kinds |= {Ending}
        self._methods = [
            (kind, name, method)
            for kind in kinds
            for name, method in vars(kind).items()
            if isinstance(method, FunctionType)
        ]

    @contextmanager
    def restored(self, source: str, ending: Ending) -> Iterator[None]:
        """
        Let the shell run one test cell as a fresh one would.

        Parameters
        ----------
        source : str
            The cell's source.
        ending : Ending
            Where its end and the value of its last expression are noted.
        """
        shell = self._shell
        self._put_back_methods()
        kept = {name: getattr(shell, name) for name in _TRAITS}
        callbacks = {name: list(shell.events.callbacks[name]) for name in _EVENTS}
        for name, function in _BUILTINS.items():
            setattr(builtins, name, function)
        # Whoever is called at each step may leave steps out.
        sys.settrace(None)
        sys.setprofile(None)
        shell.compile = self._compiler
        shell.ast_node_interactivity = self._interactivity
        shell.input_transformer_manager = TransformerManager()
        shell.input_transformers_post = []
        mark = f"_{secrets.token_hex(8)}"
        shell.user_ns[mark] = ending.reach
        shell.ast_transformers = [_Parsed(source, mark)]
        for name in _EVENTS:
            shell.events.callbacks[name][:] = []
        try:
            yield
        finally:
            shell.user_ns.pop(mark, None)
            for name, value in kept.items():
                setattr(shell, name, value)
            for name in _EVENTS:
                shell.events.callbacks[name][:] = callbacks[name]

    def _put_back_methods(self) -> None:
        """Remove what has been put in the place of methods, of the shell or of its class."""
        for kind, name, method in self._methods:
            if vars(kind).get(name) is not method:
                setattr(kind, name, method)
        for name in vars(self._shell).keys() - self._own:
            if callable(getattr(type(self._shell), name, None)):
                delattr(self._shell, name)


class _Parsed(ast.NodeTransformer):
    """Gives IPython a cell parsed here, with the mark behind it, in place of what it has parsed itself."""

    def __init__(self, source: str, mark: str) -> None:
        self._source = source
        self._mark = mark

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the cell's own tree, once; cells that run inside of it are left alone."""
        source, self._source = self._source, ""
        return _marked(source, self._mark) if source else node


def _marked(source: str, mark: str) -> ast.Module:
    text = TransformerManager().transform_cell(source)
    tree: ast.Module = _compile(text, "<cell>", "exec", _FLAGS, dont_inherit=True)
    last: Any = tree.body[-1] if tree.body else None
    called = ast.Name(mark, ast.Load())
    if isinstance(last, ast.Expr):
        last.value = ast.copy_location(ast.Call(called, [last.value], []), last.value)
    else:
        tree.body.append(ast.Expr(ast.Call(called, [], []), lineno=1, col_offset=0))
    return ast.fix_missing_locations(tree)
