"""Small changes of a module: a comparison, a sign, a constant, a condition, a statement that is left out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
# What only says something to a reader, or to mypy.
_SILENT = (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class _Change:
    """One field of one node, and what it becomes; `place` is the node's number in the order of `ast.walk`."""

    place: int
    field: str
    index: int | None
    new: ast.AST | str | float

    def made(self, node: ast.AST) -> ast.AST:
        """A copy of the node with this change."""
        changed = copy.copy(node)
        if self.index is None:
            setattr(changed, self.field, self.new)
        else:
            parts = [*getattr(node, self.field)]
            parts[self.index] = self.new
            setattr(changed, self.field, parts)
        return changed

    def shown(self, node: ast.AST) -> ast.AST:
        """What a reader needs to see of the node: the statement, the condition of an `if`, or the whole."""
        if isinstance(self.new, ast.stmt):
            statement: ast.stmt = getattr(node, self.field)[self.index]
            return statement
        if isinstance(node, ast.If | ast.IfExp | ast.While) and self.field == "test":
            return node.test
        return node


@dataclass(frozen=True, slots=True)
class Mutant:
    """A small change of a module: where it is, and how it reads."""

    line: int
    function: str
    outermost: str
    before: str
    after: str
    source: str
    change: _Change

    def __str__(self) -> str:
        return f"{self.function}: {self.before} → {self.after}"

    def tree(self) -> ast.Module:
        """The changed module."""
        tree = ast.parse(self.source)
        node = list(ast.walk(tree))[self.change.place]
        vars(node).update(vars(ast.copy_location(self.change.made(node), node)))
        if isinstance(self.change.new, ast.stmt):
            self.change.new.lineno = self.line
        return ast.fix_missing_locations(tree)


def mutants(source: str) -> list[Mutant]:
    r"""All changes of a module, in the order of its lines.

    >>> [str(each) for each in mutants("def f(x):\n    return x < 2\n")]
    ['f: x < 2 → x <= 2', 'f: x < 2 → x >= 2', 'f: 2 → 3']
    """
    tree = ast.parse(source)
    names = _functions(tree)
    found = []
    for place, node in enumerate(ast.walk(tree)):
        if node in names or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for change in _changes(place, node):
                old, new = change.shown(node), change.shown(change.made(node))
                line = getattr(old, "lineno", 0)
                found.append(Mutant(line, *names[old], _short(old), _short(new), source, change))
    return sorted(found, key=lambda mutant: mutant.line)


def _functions(tree: ast.Module) -> dict[ast.AST, tuple[str, str]]:
    """For every node that may be changed, the name of its function, and of the one that is in no other."""
    found: dict[ast.AST, tuple[str, str]] = {}

    def visit(node: ast.AST, name: str, outermost: str) -> None:
        if isinstance(node, _SILENT):
            return
        if outermost:
            found[node] = name, outermost
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{name}.{node.name}".lstrip(".")
            outermost = outermost or ("" if isinstance(node, ast.ClassDef) else name)
        for child in _children(node):
            visit(child, name, outermost)

    visit(tree, "", "")
    return found


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What may be changed of a node: no decorators, annotations, or defaults; of what is raised only the raising."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.AnnAssign):
        yield from () if node.value is None else (node.value,)
    elif not isinstance(node, ast.Raise):
        yield from ast.iter_child_nodes(node)


def _changes(place: int, node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                yield from (_Change(place, "ops", index, new()) for new in _SWAPS[type(operator)])
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            yield from (_Change(place, "op", None, new()) for new in _SWAPS.get(type(node.op), ()))
        case ast.Constant(value=bool(value)):
            yield _Change(place, "value", None, not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _Change(place, "value", None, value + 1 if isinstance(value, int) else 2.0 * value or 1.0)
        case ast.Name(id=name) if name in _NAMES:
            yield _Change(place, "id", None, _NAMES[name])
        case ast.Attribute(attr=name) if name in _NAMES:
            yield _Change(place, "attr", None, _NAMES[name])
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Compare):
            yield _Change(place, "test", None, _negated(node.test))
    yield from _left_out(place, node)


def _negated(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) else ast.UnaryOp(ast.Not(), test)


def _left_out(place: int, node: ast.AST) -> Iterator[_Change]:
    """Statements of a block that something else may depend on; without a local variable nothing would run at all."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        for index, statement in enumerate(block) if isinstance(block, list) else ():
            if _has_effect(statement):
                yield _Change(place, field, index, ast.Pass())


def _has_effect(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return False  # a docstring
        case ast.Assign(targets=targets):
            return not any(isinstance(each, ast.Name | ast.Tuple) for each in targets)
        case ast.Return(value=value):
            return value is None
    return isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete | ast.Break | ast.Continue)


def _short(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 100 else line[:99] + "…"
