"""What operators ask of the controller: to look, in pieces, or to change something while everyone goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.errors import PenstockError
from penstock.live.core import checks, records, status
from penstock.live.core.checks import Refused
from penstock.live.core.forecast import for_user, forecasts, without_others
from penstock.live.core.job_status import top
from penstock.live.core.members import App
from penstock.live.core.pieces import Pieces, whole
from penstock.live.core.state import MONITOR, PAUSED, RUN
from penstock.model.units import parse_quantity
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core
    from penstock.live.core.sessions import Session

Args = dict[str, Any]
V = TypeVar("V")
_MODES = {"enforce": RUN, "monitor": MONITOR, "pause": PAUSED}
_MOST_ROWS = 10_000
_ALSO = {"mine": ("client",), "batch": ("hook",)}  # roles that may ask besides operators


def take(core: Core, session: Session, message: wire.Admin) -> None:
    """Do what an operator says, and answer; others may look at what is theirs, and at the totals."""
    if message.verb in _LOOKS:
        answer = whole(look(core, session, message))
    else:
        accepted, order = _allowed(_ORDERS, session, message)
        _check_names(message, accepted)
        answer = order(core, session.identity.uid, message.args)
    core.send(session.number, wire.Answer(message.req, answer))


def is_look(verb: str) -> bool:
    """Whether a command changes nothing, so that it needs no turn to be answered."""
    return verb in _LOOKS


def look(core: Core, session: Session, message: wire.Admin) -> Pieces[Any]:
    """The answer to a look, in pieces."""
    accepted, made = _allowed(_LOOKS, session, message)
    _check_names(message, accepted)
    return (yield from made(core, session.identity.uid, message.args))


def _allowed(verbs: Mapping[str, V], session: Session, message: wire.Admin) -> V:
    session.need("admin", *_ALSO.get(message.verb, ()))
    if message.verb not in verbs:
        known = ", ".join((*_LOOKS, *_ORDERS))
        raise Refused("value", f"no command {message.verb[:80]!r}; known: {known}")
    return verbs[message.verb]


def _check_names(message: wire.Admin, accepted: tuple[str, ...]) -> None:
    if unknown := [name for name in message.args if name not in accepted]:
        known = ", ".join(accepted) or "nothing"
        raise Refused("value", f"{message.verb} does not take {unknown[0][:80]!r}; it takes {known}")


def _status(core: Core, uid: int, args: Args) -> Pieces[Any]:
    return status.summary(core)


def _mine(core: Core, uid: int, args: Args) -> Pieces[Any]:
    foreseen = yield from forecasts(core)
    jobs = yield from top(core.state, _MOST_ROWS, idle=True, uid=uid)
    return {
        "capacity": status.capacities(core.state),
        "mode": core.state.mode,
        "contact": core.contact,
        "opt_out": core.opt_out,
        "jobs": [{**job, "forecast": _own(core, uid, foreseen.get(job["app"]))} for job in jobs],
    }


def _own(core: Core, uid: int, forecast: Args | None) -> Args | None:
    return None if forecast is None else for_user(core.state, uid, forecast)


def _forecasts(core: Core, uid: int, args: Args) -> Pieces[Any]:
    foreseen = yield from forecasts(core)
    jobs = [{"app": app, **without_others(each)} for app, each in foreseen.items()]
    return {"contact": core.contact, "opt_out": core.opt_out, "jobs": jobs}


def _batch(core: Core, uid: int, args: Args) -> Pieces[Any]:
    return status.batch(core.state)


def _snapshot(core: Core, uid: int, args: Args) -> Pieces[Any]:
    return status.everything(core)


def _top(core: Core, uid: int, args: Args) -> Pieces[Any]:
    count = args.get("count", 20)
    if type(count) is not int or not 1 <= count <= _MOST_ROWS:
        raise Refused("value", f"count is {count!r}; a whole number from 1 to {_MOST_ROWS} is accepted")
    if type(idle := args.get("idle", False)) is not bool:
        raise Refused("value", f"idle is {idle!r}; accepted are true and false")
    return top(core.state, count, idle)


def _policy(core: Core, uid: int, args: Args) -> Any:
    if "name" in args:
        try:
            policy = core.resolve(_text(args, "name"))
            core.check(policy)
        except PenstockError as error:
            raise Refused("value", str(error)) from None
        core.record(records.Commanded(uid, "policy", {"name": args["name"]}))
        core.use(policy)
    return {"policy": core.decider.policy.label}


def _capacity(core: Core, uid: int, args: Args) -> Any:
    state = core.state
    if args:
        name = _resource(core, args)
        try:
            capacity = parse_quantity(args.get("capacity"), "bytes/s")
        except PenstockError as error:
            raise Refused("value", str(error)) from None
        if capacity > wire.MOST_NUMBER:
            raise Refused("value", f"the capacity is {capacity:g} bytes/s; at most {wire.MOST_NUMBER:g} is accepted")
        core.record(records.Commanded(uid, "capacity", {"resource": name, "capacity": capacity}))
        core.set_free(state.members())
    return {"capacity": status.capacities(state)}


def _resource(core: Core, args: Args) -> str:
    """The one that an operator means; the only one need not be named."""
    names = list(core.state.routes.place)
    name = args.get("resource", names[0] if len(names) == 1 else None)
    if name not in names:
        raise Refused("value", f"no resource {name!r}; known: {', '.join(names)}")
    return str(name)


def _service(core: Core, uid: int, args: Args) -> Any:
    if args:
        name = _resource(core, args)
        if type(on := args.get("on")) is not bool:
            raise Refused("value", f"on is {on!r}; accepted are true and false")
        core.record(records.Commanded(uid, "service", {"resource": name, "on": on}))
        core.dirty = True
    return {"out_of_service": sorted(core.state.out_of_service)}


def _mode(core: Core, uid: int, args: Args) -> Any:
    if "mode" in args:
        if not isinstance(args["mode"], str) or args["mode"] not in _MODES:
            raise Refused("value", f"mode is {args['mode']!r}; accepted are {', '.join(_MODES)}")
        core.record(records.Commanded(uid, "mode", {"mode": _MODES[args["mode"]]}))
        core.set_free(core.state.members())
    return {"mode": core.state.mode, "settling": status.settling(core.state)}


def _drain(core: Core, uid: int, args: Args) -> Any:
    if "on" in args:
        if type(args["on"]) is not bool:
            raise Refused("value", f"on is {args['on']!r}; accepted are true and false")
        core.record(records.Commanded(uid, "drain", {"on": args["on"]}))
    return {"draining": core.state.draining}


def _exempt(core: Core, uid: int, args: Args) -> Any:
    if len(args) > 1:
        raise Refused("value", "exempt takes either add or del")
    for name in args:
        job = _text(args, name)
        core.record(records.Commanded(uid, "exempt", {"job": job, "on": name == "add"}))
        core.set_free([member for member in core.state.members() if member.app.job == job])
    return {"exempt": sorted(core.state.exempt)}


def _evict(core: Core, uid: int, args: Args) -> Any:
    app = _named(core, args)
    if (names := core.state.on_names.get((app.job, app.uid))) is not None and names is not app:
        _evict_one(core, names)
    _evict_one(core, app)
    return {"evicted": app.number, "job": app.job}


def _evict_one(core: Core, app: App) -> None:
    sessions = [member.session for member in app.members.values() if member.session is not None]
    core.record(records.Evicted(app.number))
    for member in app.members.values():
        core.watch(member)
    for session in sessions:
        core.refuse(session, 0, "forbidden", "an operator has evicted this job")
    core.dirty = True


def _named(core: Core, args: Args) -> App:
    """The application that an operator means."""
    if "app" in args:
        if type(args["app"]) is not int or (app := core.state.apps.get(args["app"])) is None:
            raise Refused("value", f"there is no application {args['app']!r}")
        return app
    job = _text(args, "job")
    found = [app for app in core.state.apps.values() if app.job == job and app.kind == wire.BYTES]
    if len(found) != 1:
        numbers = ", ".join(str(app.number) for app in found)
        raise Refused("value", f"job {job!r} has applications {numbers}; name one" if found else f"no job {job!r}")
    return found[0]


def _text(args: Args, name: str) -> str:
    value = args.get(name)
    if not isinstance(value, str) or not value:
        raise Refused("value", f"{name} is {value!r}; text is expected")
    return checks.name(value, name)


_LOOKS: dict[str, tuple[tuple[str, ...], Callable[[Core, int, Args], Pieces[Any]]]] = {
    "status": ((), _status),
    "top": (("count", "idle"), _top),
    "snapshot": ((), _snapshot),
    "mine": ((), _mine),
    "forecasts": ((), _forecasts),
    "batch": ((), _batch),
}
_ORDERS: dict[str, tuple[tuple[str, ...], Callable[[Core, int, Args], Any]]] = {
    "policy": (("name",), _policy),
    "capacity": (("resource", "capacity"), _capacity),
    "service": (("resource", "on"), _service),
    "mode": (("mode",), _mode),
    "drain": (("on",), _drain),
    "exempt": (("add", "del"), _exempt),
    "evict": (("app", "job"), _evict),
}
