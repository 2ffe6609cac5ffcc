"""Measurements of every form become profiles; what cannot be read is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest import approx

from penstock.errors import InvalidOption
from penstock.studies.profiles import read_profiles

MIB = 2**20


def written(folder: Path, text: str, name: str = "runs.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_repetitions_become_their_median_or_their_maximum(tmp_path: Path) -> None:
    file = written(tmp_path, "application,targets,bandwidth\na,2,30\na,2,10\nb,1,5\na,2,11\na,1,7\n")
    profiles = read_profiles(file)
    assert dict(profiles) == {"a": {1: 7, 2: 11}, "b": {1: 5}}
    assert list(profiles["a"]) == [1, 2]
    assert profiles.repetitions == {"a": {1: 1, 2: 3}, "b": {1: 1}}
    assert (profiles.take, profiles.units, profiles.notes, profiles.counts) == ("median", ("B/s",), (), (1, 2))
    assert read_profiles(file, take="max")["a"] == {1: 7, 2: 30}


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    one = written(tmp_path, "app,n,bw\na,1,2\n", "one.csv")
    two = written(tmp_path, "app,n,bw\na,1,4\na,2,5\n", "two.csv")
    assert dict(read_profiles([one, str(two)])) == {"a": {1: 3, 2: 5}}


@pytest.mark.parametrize(
    ("header", "cell", "rate"),
    [
        ("app,n,bw", "5", 5),
        ("name,count,bandwidth", "1.5 GB/s", 1.5e9),
        ("Application, OSTs, Bandwidth_MiB/s", "2", 2 * MIB),
        ("job;stripe count;throughput (GB/s)", "2.5", 2.5e9),
        ("job;io_nodes;bw[kB/s]", "3e2", 3e5),
        ("app,forwarders,bandwidth_mbps", "4", 4e6),
        ("app,forwarders,bandwidth_MiBps", "4", 4 * MIB),
        ("app,n,bandwidth_kbps", "4", 4e3),
        ("app,n,bandwidth_bytes/s", "4", 4),
        ("app,n,bandwidth_MB/s", "4 KiB/s", 4096),  # a unit in the cell goes before that of the column
        ("app,n,bandwidth_MB/s", "1_000", 1e9),
    ],
)
def test_columns_and_units_have_several_names(tmp_path: Path, header: str, cell: str, rate: float) -> None:
    separator = ";" if ";" in header else ","
    file = written(tmp_path, f"{header}\n{separator.join(['x', '8', cell])}\n")
    assert dict(read_profiles(file)) == {"x": {8: approx(rate)}}


def test_bits_are_not_meant_by_mbps_and_that_is_said(tmp_path: Path) -> None:
    file = written(tmp_path, "app,n,bw_mbps\na,1,2\n")
    assert read_profiles(file).notes == (f"{file}: bw_mbps is read as MB/s, bytes and not bits",)


def test_a_power_of_ten_is_no_unit(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("app,n,bandwidth\na,1,1e9\na,2,2e9\n")
    assert read_profiles(file).notes == ()
    file.write_text("app,n,bandwidth\na,1,1e9\na,2,2 GB/s\n")
    (note,) = read_profiles(file).notes
    assert "has values in GB/s, and the 1 without one in B/s" in note


def test_blank_lines_comments_quotes_and_other_columns_do_no_harm(tmp_path: Path) -> None:
    text = '\ufeff# made up\n\nwhen,app,n,bw\n,"a, b",1,2\n\n# more\nnow,"a, b",2,"3 MB/s"\n'
    assert dict(read_profiles(written(tmp_path, text))) == {"a, b": {1: 2, 2: 3e6}}


BAD = [
    ("", "{file}: is empty; expected a CSV"),
    ("# nothing\n\n", "{file}: is empty; expected a CSV"),
    ("app,n,bw\n", "{file}: has no measurement in it; expected a CSV"),
    ("app,n\na,1\n", "{file}:1: has no column for the bandwidth (bandwidth, bw, bandwidth_MiB/s), only 'app, n'; "),
    ("\nwhat,n,bw\na,1,1\n", "{file}:2: has no column for the application (application, app, name"),
    ("app,bw\na,1\n", "{file}:1: has no column for the targets (targets, n, count"),
    ("app,n,targets,bw\na,1,1,1\n", "{file}:1: has the columns 'n' and 'targets' for the targets; keep one"),
    ("app,n,bw_Mb/s\na,1,1\n", "{file}:1: the column 'bw_Mb/s' has the unit 'Mb/s'; a bandwidth is in bytes"),
    ("app,n,bw_fathoms/s\na,1,1\n", "{file}:1: the column 'bw_fathoms/s' has the unit 'fathoms/s'; a bandwidth"),
    ("app,n,bw\na,1,1\na,1\n", "{file}:3: has 2 cells; the header names 3 columns"),
    ("app,n,bw\na,1,fast\n", "{file}:2: bw is 'fast'; a bandwidth is a number > 0"),
    ("app,n,bw\na,1,\n", "{file}:2: bw is ''; a bandwidth is a number > 0"),
    ("app,n,bw\na,1,nan\n", "{file}:2: bw is 'nan'; a bandwidth is a number > 0"),
    ("app,n,bw\na,1,0\n", "{file}:2: bw is '0 B/s'; a bandwidth is a number > 0"),
    ("app,n,bw_MB/s\na,1,-3\n", "{file}:2: bw_MB/s is '-3 MB/s'; a bandwidth is a number > 0"),
    ("app,n,bw\na,1,3 Gb/s\n", "{file}:2: bw is '3 Gb/s' (Gb/s is gigabits; penstock takes bytes: GB/s)"),
    ("app,n,bw\na,1,1\n\na,0,3\n", "{file}:4: n is '0'; a count is a whole number ≥ 1"),
    ("app,n,bw\na,-2,3\n", "{file}:2: n is '-2'; a count is a whole number ≥ 1"),
    ("app,n,bw\na,1.5,3\n", "{file}:2: n is '1.5'; a count is a whole number ≥ 1"),
    ("app,n,bw\na,two,3\n", "{file}:2: n is 'two'; a count is a whole number ≥ 1"),
    ("app,n,bw\n ,1,3\n", "{file}:2: app is ''; a name is printable text, not empty"),
    ('app,n,bw\n"a\nb",1,3\n', "{file}:3: app is 'a\\nb'; a name is printable text, not empty"),
    ('{"tests": 3}', "{file}: has no list 'tests' as IOR writes it"),
    ("application,targets,bandwidth,bandwidth\na,1,1,2\n", "{file}:1: has 2 columns 'bandwidth'; keep one of them"),
    ("app,n,bw,note,note\na,1,1,,\n", "{file}:1: has 2 columns 'note'; keep one of them"),
    ("id,median_bw_mbps_1ion,median_bw_mbps_1ion\na,1,2\n", "{file}:1: has 2 columns 'median_bw_mbps_1ion'; keep"),
    ("app,n,bw\ra,1,1\r", "{file}:1: has a line that ends in a carriage return alone; expected LF or CR LF"),
    (f"app,n,bw\na,{10**30},1\n", f"{{file}}:2: n is '{10**30}'; a count is a whole number ≥ 1 and at most 2^53"),
    (f"id,median_bw_mbps_{10**30}ion\na,1\n", f"{{file}}: the number of I/O nodes in a column's name is '{10**30}'; a"),
    (f"id,median_bw_mbps_{'9' * 5000}ion\na,1\n", "{file}: the number of I/O nodes in a column's name is '999"),
    ('{"tests":\n [}', "{file}:2: not valid JSON: "),
    (f'{{"tests": [{"9" * 5000}]}}', "{file}: not valid JSON: Exceeds the limit"),
    ("[" * 9, "{file}:1: has no column for the application"),
    ('{"tests": ' + "[" * 9999, "{file}: the document nests more than 96 levels deep"),
    ('{"tests": [{}]}', "{file}: tests[0] has no 'Options' and 'Results'"),
    ('{"tests": [7]}', "{file}: tests[0] has no 'Options' and 'Results'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), BAD, ids=[repr(row[0][:30]) for row in BAD])
def test_refusals_say_where_and_what_is_accepted(tmp_path: Path, text: str, sentence: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InvalidOption) as refused:
        read_profiles(file)
    assert str(refused.value).startswith(sentence.replace("{file}", str(file)))
    assert "\n" not in str(refused.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"app,n,bw\n\xff,1,1\n")
    for path, words in {
        tmp_path / "none.csv": "no such file",
        tmp_path: "is not a regular file",
        tmp_path / "bytes.csv": "is not text in UTF-8 (byte 9)",
    }.items():
        with pytest.raises(InvalidOption) as refused:
            read_profiles(path)
        assert str(refused.value).startswith(f"{path}: {words}")
    with pytest.raises(InvalidOption, match="no file of measurements is given"):
        read_profiles([])
    with pytest.raises(InvalidOption, match="take is 'mean'; accepted is one of median, max"):
        read_profiles([], take="mean")


SUMMARY = """\
scenario,median_bw_mbps_0ion,median_bw_mbps_1ion,median_bw_mbps_4ion,mean_bw_mbps_1ion,count_bw_mbps_4ion
8-2-0-0-32-1,9,10,30,99,5
8-2-1-0-32-1,9,20,,99,
"""
RUNS = """\
forwarders;clients;processes;layout;spatiality;odirect;request;operation;bandwidth
1;2;8;0;0;1;32;write;10
4;2;8;0;0;1;32;write;{}
4;2;8;0;0;1;32;write;20
4;2;8;0;0;1;32;write;40
0;2;8;0;0;1;32;write;9
4;2;8;0;0;1;32;read;50
"""


def test_the_summary_of_forge(tmp_path: Path) -> None:
    file = written(tmp_path, SUMMARY)
    profiles = read_profiles(file)
    assert dict(profiles) == {"8-2-0-0-32-1": {1: 10 * MIB, 4: 30 * MIB}, "8-2-1-0-32-1": {1: 20 * MIB}}
    assert profiles.repetitions["8-2-0-0-32-1"] == {1: 1, 4: 5}
    assert profiles.units == ("MiB/s",)
    direct = "2 values on 0 I/O nodes (direct access) are left out: 0 is no number of targets"
    assert profiles.notes == (f"{file}: {direct}",)
    with pytest.raises(InvalidOption, match="has medians of runs, not the runs themselves; --take max needs those"):
        read_profiles(file, take="max")
    with pytest.raises(InvalidOption, match=r"runs.csv:2: median_bw_mbps_4ion is '-3 MiB/s'; a bandwidth is"):
        read_profiles(written(tmp_path, SUMMARY.replace(",30,", ",-3,")))


def test_the_runs_of_forge_have_the_same_names(tmp_path: Path) -> None:
    profiles = read_profiles(written(tmp_path, RUNS.format(30)))
    assert dict(profiles) == {"8-2-0-0-32-1": {1: 10 * MIB, 4: 30 * MIB}, "8-2-0-0-32-1-read": {4: 50 * MIB}}
    assert profiles.repetitions["8-2-0-0-32-1"] == {1: 1, 4: 3}
    assert "1 values on 0 I/O nodes" in profiles.notes[0]
    with pytest.raises(InvalidOption, match=r"runs.csv:3: bandwidth is 'x'; a bandwidth is"):
        read_profiles(written(tmp_path, RUNS.format("x")))


def test_direct_access_alone_is_no_profile(tmp_path: Path) -> None:
    lines = RUNS.format(30).splitlines()
    file = written(tmp_path, "\n".join([lines[0], lines[5]]))
    with pytest.raises(InvalidOption, match=r"nothing is measured; .*: 1 values on 0 I/O nodes"):
        read_profiles(file)
    both = [file, written(tmp_path, RUNS.format(30), "more.csv")]
    assert len(read_profiles(both).notes) == 2


def test_a_median_does_not_mix_with_runs(tmp_path: Path) -> None:
    files = [written(tmp_path, RUNS.format(30)), written(tmp_path, SUMMARY, "summary.csv")]
    for order in (files, files[::-1], [files[1], files[1]]):
        with pytest.raises(InvalidOption, match=r"has a median of '8-2-0-0-32-1' on [14] targets beside other values"):
            read_profiles(order)


IOR_CSV = """\
access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter
write,100.5,1,1,1048576,1024,0,1,0,1,32,0
read,300,1,1,1048576,1024,0,1,0,1,32,0
access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter
write,200.5,1,1,1048576,1024,0,1,0,1,32,1
"""


@pytest.mark.parametrize(
    ("name", "count", "rest"),
    [
        ("checkpoint_ost4.csv", 4, "checkpoint "),
        ("ost-16.csv", 16, ""),
        ("4targets-night.csv", 4, "night "),
        ("run2-stripe_count=8-b.csv", 8, "run2-b "),
        ("a_2_ions.csv", 2, "a "),
        ("run-2-targets-4.csv", 4, "run-2 "),
    ],
)
def test_the_table_of_ior_takes_the_count_from_the_name_of_the_file(
    tmp_path: Path, name: str, count: int, rest: str
) -> None:
    profiles = read_profiles(written(tmp_path, IOR_CSV, name))
    assert dict(profiles) == {
        f"{rest}write-32t-1048576k-1024k": {count: approx(150.5 * MIB)},
        f"{rest}read-32t-1048576k-1024k": {count: approx(300 * MIB)},
    }
    assert profiles.units == ("MiB/s",)


def test_the_table_of_ior_takes_the_count_from_the_user(tmp_path: Path) -> None:
    file = written(tmp_path, IOR_CSV, "poster4.csv")
    assert list(read_profiles(file, count=3)["write-32t-1048576k-1024k"]) == [3]
    with pytest.raises(InvalidOption) as refused:
        read_profiles(file)
    assert str(refused.value) == (
        f"{file}: does not say on how many targets IOR ran; give --count N, or put it in the file's name as in"
        " checkpoint_ost4.csv"
    )


def ior_document(command: str = "", results: Any = None, **options: Any) -> str:
    """What IOR prints, as far as we read it: a list of results per repetition."""
    run = {"access": "write", "bwMiB": 100.0, "blockKiB": 4096.0, "xferKiB": 256.0, "iops": 400.0}
    default = [[run, {"access": "remove", "totalTime": 0.1}], [run | {"bwMiB": 120.0}, run | {"access": "read"}]]
    test = {"TestID": 0, "Options": {"tasks": 16, **options}, "Results": results or default}
    return json.dumps({"Version": "4.1", "Command line": f"ior -w {command}", "tests": [test], "summary": []})


@pytest.mark.parametrize(
    ("command", "options", "count"),
    [
        ("--posix.lustre.stripecount=4 -b 4m", {}, 4),
        ("--posix.beegfs.NumTargets 6", {}, 6),
        ("-O lustreStripeCount=12,summaryFormat=JSON", {}, 12),
        ("-O beegfsNumTargets=3", {}, 3),
        ("", {"Lustre stripe count": 5}, 5),
        ("", {"stripe count": "7 bytes"}, 7),
    ],
)
def test_the_document_of_ior_may_know_the_count(
    tmp_path: Path, command: str, options: dict[str, Any], count: int
) -> None:
    file = written(tmp_path, ior_document(command, **options), "ior.json")
    profiles = read_profiles(file)
    assert dict(profiles) == {
        "write-16t-4096k-256k": {count: approx(110 * MIB)},
        "read-16t-4096k-256k": {count: approx(100 * MIB)},
    }
    assert dict(read_profiles(file, count=count)) == dict(profiles)
    with pytest.raises(InvalidOption, match=f"says that it ran on {count} targets, and --count says 99; leave"):
        read_profiles(file, count=99)


@pytest.mark.parametrize("digits", ["9" * 30, "9" * 5000])
def test_counts_that_no_number_holds_are_refused(tmp_path: Path, digits: str) -> None:
    documents = {
        "the number of targets on its command line": ior_document(f"--posix.lustre.stripecount={digits}"),
        "the option 'stripe count'": ior_document(**{"stripe count": digits}),
        "the option 'Lustre stripe count'": ior_document(**{"Lustre stripe count": f"{digits} bytes"}),
    }
    for place, text in documents.items():
        with pytest.raises(InvalidOption) as refused:
            read_profiles(written(tmp_path, text, "ior.json"))
        assert f"ior.json: {place} is '99999" in str(refused.value)
        assert str(refused.value).endswith("; a count is a whole number ≥ 0 and at most 2^53")


def test_numbers_of_any_length_in_the_document_of_ior(tmp_path: Path) -> None:
    text = ior_document(**{"stripe count": "COUNT"}).replace('"COUNT"', "9" * 5000)
    with pytest.raises(InvalidOption, match="not valid JSON: Exceeds the limit"):
        read_profiles(written(tmp_path, text, "ior.json"))
    for digits, words in (("9" * 5000, "not valid JSON: Exceeds the limit"), ("9" * 400, "bwMiB is a number of more")):
        text = ior_document().replace("100.0", digits)
        with pytest.raises(InvalidOption, match=words):
            read_profiles(written(tmp_path, text, "ior.json"), count=1)


def test_a_hundred_digits_in_the_name_of_a_file(tmp_path: Path) -> None:
    for text, suffix in ((IOR_CSV, "csv"), (ior_document(), "json")):
        file = written(tmp_path, text, f"ost{'9' * 100}.{suffix}")
        with pytest.raises(InvalidOption, match=r"the number of targets in its name is '9+…; a count is a whole"):
            read_profiles(file)
        assert read_profiles(file, count=3).counts == (3,)


def test_a_file_name_of_several_lines_names_no_application(tmp_path: Path) -> None:
    for text, suffix in ((IOR_CSV, "csv"), (ior_document(), "json")):
        file = written(tmp_path, text, f"a\nb_ost4.{suffix}")
        with pytest.raises(InvalidOption, match=r"its name has 'a\\nb' in it, part of the application's; a name is"):
            read_profiles(file)


def test_columns_without_a_name_may_be_many(tmp_path: Path) -> None:
    assert dict(read_profiles(written(tmp_path, "app,n,bw,,\na,1,2,,\n"))) == {"a": {1: 2}}


@pytest.mark.parametrize(
    "options", [{"stripe count": "Use default"}, {"stripe count": "  "}, {"Lustre stripe count": 0}, {}]
)
@pytest.mark.parametrize("command", ["", "--posix.lustre.stripecount=-1", "--posix.lustre.stripecount=0"])
def test_the_choice_of_the_system_is_not_known(tmp_path: Path, command: str, options: dict[str, Any]) -> None:
    text = ior_document(command, **options)
    with pytest.raises(InvalidOption, match="does not say on how many targets IOR ran"):
        read_profiles(written(tmp_path, text, "ior.json"))
    assert list(read_profiles(written(tmp_path, text, "ior_ost2.json"))["ior write-16t-4096k-256k"]) == [2]


def test_a_file_per_process_is_another_pattern(tmp_path: Path) -> None:
    text = ior_document(access="file-per-process")
    assert next(iter(read_profiles(written(tmp_path, text, "x.json"), count=1))) == "write-fpp-16t-4096k-256k"


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({"access": "write"}, "tests[0].Results[0].blockKiB is empty; a size is a number ≥ 0"),
        ({"access": "write", "blockKiB": 1, "xferKiB": "x"}, "tests[0].Results[0].xferKiB is 'x'; a size is"),
        ({"access": "write", "blockKiB": 1, "xferKiB": 1, "bwMiB": 0}, "tests[0].Results[0].bwMiB is 0; a bandwidth"),
        ({"access": "write", "blockKiB": 1, "xferKiB": 1, "bwMiB": "inf"}, "tests[0].Results[0].bwMiB is 'inf'; a"),
        ({"bwMiB": 1}, "tests[0].Results[0] is a mapping without 'access'; expected a result as IOR writes it"),
        ("fast", "tests[0].Results[0] is 'fast' without 'access'; expected a result as IOR writes it"),
    ],
)
def test_a_bad_result_of_ior_is_refused_with_its_place(tmp_path: Path, result: Any, sentence: str) -> None:
    file = written(tmp_path, ior_document(results=[result]), "ior.json")
    with pytest.raises(InvalidOption) as refused:
        read_profiles(file, count=1)
    assert str(refused.value).startswith(f"{file}: {sentence}")


def test_a_table_of_ior_with_another_access_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, IOR_CSV.replace("read,300", "stat,300"), "x_ost1.csv")
    with pytest.raises(InvalidOption, match=r"x_ost1.csv:3: access is 'stat'; expected write or read"):
        read_profiles(file)
