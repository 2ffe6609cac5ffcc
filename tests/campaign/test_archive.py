"""Archives: the same bytes for the same directory, back again as it was, and refused if a byte was changed."""

import hashlib
import json
import zipfile

import pytest

from campaign.small import small, with_policy
from penstock.campaign import Campaign, read_results, run_campaign
from penstock.campaign.archive import MANIFEST, export_campaign, import_campaign, read_archive
from penstock.errors import InvalidOption
from penstock.report.campaign.table import archive_lines

MEANS = "metric,mean\nmakespan,1.0\n"


@pytest.fixture
def archive(tmp_path):
    run_campaign(small(), tmp_path / "out", workers=1)
    export_campaign(tmp_path / "out", tmp_path / "out.zip", MEANS)
    return tmp_path / "out.zip"


def test_there_and_back(archive, tmp_path):
    manifest = import_campaign(archive, tmp_path / "again")
    before, after = read_results(tmp_path / "out"), read_results(tmp_path / "again")
    assert before.rows() == after.rows()
    assert (tmp_path / "again" / "results.parquet").read_bytes() == (tmp_path / "out" / "results.parquet").read_bytes()
    assert run_campaign(small(), tmp_path / "again", workers=1).ran == 0  # it goes on where it was
    assert (manifest["campaign"], manifest["seeds"], manifest["done"]) == ("small", [1, 2, 3], 12)
    assert manifest["plans"] == ["fair-share", "list-fifo"]
    assert (tmp_path / "again" / "means.csv").read_text() == MEANS


def test_the_same_directory_gives_the_same_bytes(archive, tmp_path):
    export_campaign(tmp_path / "out", tmp_path / "other.zip", MEANS)
    assert archive.read_bytes() == (tmp_path / "other.zip").read_bytes()


def changed(archive, name, data, listed=None):
    """The archive with another content of a file."""
    with zipfile.ZipFile(archive) as old:
        contents = {each: old.read(each) for each in old.namelist()}
    contents[name] = data(contents.get(name, b""))
    if listed:
        manifest = json.loads(contents[MANIFEST])
        manifest["files"][name] = listed
        contents[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(archive, "w") as new:
        for each, content in contents.items():
            new.writestr(each, content)
    return archive


def flipped(data):
    return bytes([data[0] ^ 1]) + data[1:]


@pytest.mark.parametrize(
    "name", ["results.parquet", "asked.parquet", "campaign.yaml", "means.csv", "runs/part-000001.parquet"]
)
def test_one_bit_is_enough(archive, tmp_path, name):
    with pytest.raises(InvalidOption, match=f"{name} is not what its manifest says"):
        import_campaign(changed(archive, name, flipped), tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_files_that_are_not_listed_or_lead_elsewhere_are_refused(archive, tmp_path):
    told = {"sha256": "0" * 64, "bytes": 1}
    for name in ("extra.txt", "../evil.txt", "/etc/evil", "with/../../evil", "with/.."):
        with pytest.raises(InvalidOption, match="does not hold the files that its manifest lists"):
            read_archive(changed(archive, name, lambda _: b"x", told))


def test_results_that_do_not_follow_from_the_runs_leave_nothing(archive, tmp_path):
    run_campaign(
        small(workloads=[{"generate": "chains", "set": {"m": 2, "n_max": 20}, "seeds": "1-2"}]),
        tmp_path / "fewer",
        workers=1,
    )
    other = (tmp_path / "fewer" / "runs" / "part-000001.parquet").read_bytes()
    told = {"sha256": hashlib.sha256(other).hexdigest(), "bytes": len(other)}
    with pytest.raises(InvalidOption, match="do not follow from its runs"):
        import_campaign(changed(archive, "runs/part-000001.parquet", lambda _: other, told), tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_what_is_no_archive(tmp_path):
    (tmp_path / "text.zip").write_text("no")
    with pytest.raises(InvalidOption, match="is not an archive that"):
        read_archive(tmp_path / "text.zip")
    with pytest.raises(InvalidOption, match="no such file"):
        read_archive(tmp_path / "none.zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr(MANIFEST, '{"format": 2}')
    with pytest.raises(InvalidOption, match="accepted is format 1"):
        read_archive(tmp_path / "other.zip")


def test_a_full_directory_is_left_alone(archive, tmp_path):
    with pytest.raises(InvalidOption, match="is not empty"):
        import_campaign(archive, tmp_path / "out")


def test_policies_that_plans_name_are_asked_for(tmp_path):
    run_campaign(with_policy(tmp_path, "slow"), tmp_path / "out", workers=1)
    manifest = export_campaign(tmp_path / "out", tmp_path / "a.zip", MEANS)
    assert archive_lines(manifest)[-1] == "Plans name own.py, which is not in the archive; --with own.py puts it there."
    manifest = export_campaign(tmp_path / "out", tmp_path / "b.zip", MEANS, [tmp_path / "own.py"])
    assert "with/own.py" in manifest["files"]


def test_two_policies_of_one_file_name_are_both_put_in(tmp_path):
    (tmp_path / "sub").mkdir()
    for place in ("own.py", "sub/own.py"):
        (tmp_path / place).write_text("def slow(view, rates):\n    rates[0] = view.limit[0]\n")
    (tmp_path / "sub" / "own.py").write_text("def slow(view, rates):\n    rates[-1] = view.limit[-1]\n")
    document = {
        "version": 1,
        "name": "two",
        "workloads": [{"generate": "chains", "set": {"m": 2, "n_max": 5}}],
        "plans": ["own.py:slow", "sub/own.py:slow"],
    }
    run_campaign(Campaign.from_document(document, tmp_path), tmp_path / "out", workers=1)
    manifest = export_campaign(tmp_path / "out", tmp_path / "a.zip", "")
    assert [line.split()[2] for line in archive_lines(manifest)[-2:]] == ["own.py,", "sub/own.py,"]
    assert not any("--with" in line for line in archive_lines(manifest, written=False))
    both = [tmp_path / "own.py", tmp_path / "sub" / "own.py"]
    manifest = export_campaign(tmp_path / "out", tmp_path / "a.zip", "", both)
    assert {"with/own.py", "with/sub/own.py"} <= set(manifest["files"])
    import_campaign(tmp_path / "a.zip", tmp_path / "in")
    assert "rates[-1]" in (tmp_path / "in" / "with" / "sub" / "own.py").read_text()
    assert len(archive_lines(manifest)) == 3
