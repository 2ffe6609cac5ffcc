"""What sites get: scripts that a shell reads as they are meant, and plans that come back."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InvalidOption, PenstockError
from penstock.studies.targets.export import export, ost_indices, read_plan
from report.test_targets import allotment, random_allotment, striped

AWKWARD = ["with space", "it's", 'say "hi"', "$(reboot)", "`id`", "a;b", "-rf", "#no", "é→", "back\\slash", "{name}"]
printable = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "), min_size=1)
of_directories = printable.filter(lambda name: "/" not in name and name not in (".", ".."))


def commands(script):
    """The commands of a script as a shell would split them, comments left out."""
    lines = [shlex.split(line, comments=True) for line in script.splitlines()]
    return [words for words in lines if words]


def awkward(names=4):
    return allotment([striped(name, [i % 4]) for i, name in enumerate(AWKWARD)], names)


def test_lustre_sets_count_and_osts_of_a_directory_per_application():
    made = allotment(
        [striped("ocean", [0, 2]), striped("plasma", [3])], ["w-OST0000", "w-OST000a", "w-OST001a", "w-OST0003"]
    )
    assert commands(export(made, "lustre", "/scratch/{name}/out")) == [
        ["set", "-eu"],
        ["mkdir", "-p", "--", "/scratch/ocean/out"],
        ["lfs", "setstripe", "-c", "2", "-o", "0,26", "--", "/scratch/ocean/out"],
        ["mkdir", "-p", "--", "/scratch/plasma/out"],
        ["lfs", "setstripe", "-c", "1", "-o", "3", "--", "/scratch/plasma/out"],
    ]


@pytest.mark.parametrize(
    ("names", "indices", "source"),
    [
        (["work-OST0000", "work-OST001a"], [0, 26], "names"),
        (["work-OST0010_UUID", "work-OST0011_UUID"], [16, 17], "names"),
        (["ost7", "12"], [7, 12], "names"),
        (["OST12", "OST00012"], [0, 1], "places"),  # twice the same number
        (["fast", "ost1"], [0, 1], "places"),  # one of them tells nothing
        (["a-70000", "a-70001"], [0, 1], "places"),  # no index is so high
        (["a-123456789", "b"], [0, 1], "places"),
        (["OST000g", "x"], [0, 1], "places"),
    ],
)
def test_ost_indices(names, indices, source):
    found, words = ost_indices(names)
    assert found == indices and source in words
    assert words in export(allotment([striped("a", [0])], names), "lustre")


@pytest.mark.parametrize("kind", ["lustre", "beegfs"])
def test_awkward_names_stay_one_word(kind):
    script = export(awkward(), kind, "/scratch/my files/{name}")
    made = [words[-1] for words in commands(script) if words[0] == "mkdir"]
    assert made == [f"/scratch/my files/{name}" for name in AWKWARD]
    assert {words[0] for words in commands(script)} <= {"set", "mkdir", "lfs", "beegfs"}


@settings(deadline=None, max_examples=50)
@given(st.lists(of_directories, min_size=1, max_size=5, unique=True), st.sampled_from(["lustre", "beegfs"]))
def test_any_name_stays_one_word(names, kind):
    script = export(allotment([striped(name, [0, 1]) for name in names]), kind)
    assert [words[-1] for words in commands(script) if words[0] == "mkdir"] == names


@pytest.mark.parametrize("kind", ["lustre", "beegfs"])
def test_a_real_shell_runs_the_script(tmp_path, kind):
    """With stand-ins for the tools that print what they are given."""
    for tool in ("lfs", "beegfs"):
        (tmp_path / tool).write_text('#!/bin/sh\nprintf "%s" "${0##*/}"; printf "|%s" "$@"; echo\n')
        (tmp_path / tool).chmod(0o755)
    script = export(awkward(), kind)
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    expected = ["|".join(words) for words in commands(script) if words[0] in ("lfs", "beegfs")]
    assert done.stdout.decode().splitlines() == expected
    assert {each.name for each in tmp_path.iterdir() if each.is_dir()} == set(AWKWARD)


LEAVING = [
    ("..", "{name}", ".."),
    (".", "{name}", "."),
    ("..", "/scratch/{name}", "/scratch/.."),
    ("..", "/scratch/{name}/out", "/scratch/../out"),
    (".", "/scratch/.{name}", "/scratch/.."),
    ("../x", "/scratch/{name}", "/scratch/../x"),
    ("a/b", "/scratch/{name}", "/scratch/a/b"),
    ("/etc", "{name}", "/etc"),
    ("a/..", "x{name}", "xa/.."),
]


@pytest.mark.parametrize("kind", ["lustre", "beegfs"])
@pytest.mark.parametrize(("name", "directory", "place"), LEAVING)
def test_no_name_leads_out_of_its_directory(kind, name, directory, place):
    made = allotment([striped("good", [0]), striped(name, [1])])
    with pytest.raises(InvalidOption) as refused:
        export(made, kind, directory)
    sentence = f"--export: {name!r} would have the directory {place!r}, which is not its own; a name there is neither"
    assert str(refused.value).startswith(sentence)
    assert name in json.loads(export(made, "json"))["placement"]


def test_dots_in_a_name_do_no_harm():
    made = allotment([striped(name, [0]) for name in ("...", ".hidden", "a..b", "..a")])
    script = export(made, "lustre", "../runs/{name}")
    assert [words[-1] for words in commands(script) if words[0] == "mkdir"] == [
        f"../runs/{each.name}" for each in made.applications
    ]
    assert "-- /scratch/run-.." in export(allotment([striped("..", [0])]), "lustre", "/scratch/run-{name}")


def test_beegfs_gives_a_pool_to_targets_that_nobody_else_uses():
    made = allotment(
        [striped("a", [0, 1]), striped("b", [0, 1]), striped("c", [2, 3]), striped("d", [3])], list("wxyz")
    )
    script = export(made, "beegfs")
    assert commands(script) == [
        ["set", "-eu"],
        ["beegfs", "pool", "create", "--targets=w,x", "penstock-1"],
        ["mkdir", "-p", "--", "a"],
        ["beegfs", "entry", "set", "--pool=penstock-1", "--num-targets=2", "--", "a"],
        ["mkdir", "-p", "--", "b"],
        ["beegfs", "entry", "set", "--pool=penstock-1", "--num-targets=2", "--", "b"],
        ["mkdir", "-p", "--", "c"],
        ["beegfs", "entry", "set", "--num-targets=2", "--", "c"],
        ["mkdir", "-p", "--", "d"],
        ["beegfs", "entry", "set", "--num-targets=1", "--", "d"],
    ]
    assert "#   beegfs entry create file --num-targets=2 --targets=y,z -- c/FILE" in script
    assert "no storage pool" not in script


def test_beegfs_says_when_no_pool_is_possible():
    script = export(allotment([striped("a", [0, 1]), striped("b", [1, 2])]), "beegfs")
    assert "so no storage pool can hold them" in script and "pool create" not in script


@pytest.mark.parametrize(
    ("names", "shown"),
    [(["t_1", "A.b-2"], "t_1,A.b-2"), (["1", "102"], "1,102"), (["0", "1"], "1,2"), (["a b", "c"], "1,2")],
)
def test_beegfs_knows_targets_by_alias_or_number(names, shown):
    script = export(allotment([striped("a", [0, 1])], names), "beegfs")
    assert ["beegfs", "pool", "create", f"--targets={shown}", "penstock-1"] in commands(script)


def test_a_plan_names_targets_and_comes_back(tmp_path):
    made = random_allotment(9, 6, out=(2,))
    text = export(made, "json")
    (tmp_path / "plan.json").write_text(text)
    plan = json.loads(text)
    assert (plan["version"], plan["sharing"]) == (1, {"target": "fair-share"})
    assert plan["allocation"] == {each.name: each.count for each in made.applications}
    names = [target.name for target in made.targets]
    expected = {each.name: tuple(names[i] for i in each.targets) for each in made.applications}
    assert read_plan(tmp_path / "plan.json") == expected


def test_the_json_of_the_command_is_a_plan_too(tmp_path):
    made = awkward(["one", "2", "three", "four"])
    (tmp_path / "run.json").write_text(json.dumps(made.to_dict()))
    (tmp_path / "plan.json").write_text(export(made, "json"))
    assert read_plan(tmp_path / "run.json") == read_plan(tmp_path / "plan.json")
    assert read_plan(tmp_path / "run.json")["it's"] == ("2",)


BAD_PLANS = [
    ("", "not valid JSON"),
    ("[1]", "is a list; a plan is what `penstock allocate --export json`"),
    ('{"version": 2, "targets": {"a": ["x"]}}', "version is 2; this release reads version 1"),
    ('{"version": true, "targets": {"a": ["x"]}}', "version is true; this release reads version 1"),
    ('{"scenario": "s", "runs": []}', "holds a comparison of many plans"),
    ("{}", "'targets' is empty; a plan is"),
    ('{"targets": {}}', "'targets' is a mapping; a plan is"),
    ('{"targets": {"a": []}}', "targets of 'a': an empty list; expected a list with at least one target"),
    ('{"targets": {"a": "x"}}', "targets of 'a': 'x'; expected a list"),
    ('{"targets": {"a": ["x", "x"]}}', "targets of 'a': 'x' is there twice"),
    ('{"targets": {"a": [0]}}', "targets of 'a': 0 is no target; expected a name"),
    ('{"targets": {"a": [1.5]}}', "targets of 'a': 1.5 is no target"),
    ('{"targets": {"a": [true]}, "target_use": [{"name": "x"}, {"name": "y"}]}', "true is no target"),
    ('{"targets": {"a": [2]}, "target_use": [{"name": "x"}, {"name": "y"}]}', "a name or a place from 0 to 1"),
    ('{"targets": {"a": [0]}, "target_use": [{"nom": "x"}]}', "'target_use' is not a list of targets with names"),
    ('{"targets": {"a": ["x"], "a": ["y"]}}', "the key 'a' appears twice"),
]


@pytest.mark.parametrize(("text", "words"), BAD_PLANS, ids=[row[1][:30] for row in BAD_PLANS])
def test_bad_plans_are_refused_in_a_sentence(tmp_path, text, words):
    file = tmp_path / "plan.json"
    file.write_text(text)
    with pytest.raises(PenstockError) as refused:
        read_plan(file)
    sentence = str(refused.value)
    assert sentence.startswith(str(file)) and words in sentence and "\n" not in sentence


def test_plans_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidOption, match="no such file; a plan is"):
        read_plan(tmp_path / "none.json")
    with pytest.raises(InvalidOption, match="cannot be read"):
        read_plan(tmp_path)
    (tmp_path / "odd.json").write_bytes(b'{"targets": "\xff"}')
    with pytest.raises(InvalidOption, match="is not text in UTF-8"):
        read_plan(tmp_path / "odd.json")


@pytest.mark.parametrize(
    ("kind", "directory", "words"),
    [
        ("gpfs", "{name}", "--export is 'gpfs'; accepted: lustre, beegfs, json"),
        ("lustre", "/scratch", "--directory is '/scratch'; it holds {name}"),
        ("json", "/scratch/{name}", "--directory is for commands of a file system"),
    ],
)
def test_exports_that_make_no_sense(kind, directory, words):
    with pytest.raises(InvalidOption) as refused:
        export(awkward(), kind, directory)
    assert words in str(refused.value)
