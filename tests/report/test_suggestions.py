from penstock.report.live.table import suggestion_lines

DOUBT = {"resource": "scratch", "capacity": 1e10, "granted": 1e10, "achieved": 7.123e9, "ratio": 0.7123}


def test_a_doubt_in_words_and_what_does_not_show():
    doubt = {**DOUBT, "suggested": 7.12e9, "seconds": 120.0, "age": 5.0}
    first, second = suggestion_lines({"scratch": {}, "home": {}}, [doubt])
    assert "scratch may be too high: over 2 min, until just now, jobs were granted 10 GB/s and used 7.123 GB/s" in first
    assert "`penstock capacity scratch 7120000000`" in first
    assert second.startswith("Nothing says that home could move less") and "nobody is granted" in second
    names = suggestion_lines({"scratch": {"kind": "operations"}}, [{**doubt, "granted": 900.0, "achieved": 500.0}])
    assert "granted 900 op/s and used 500 op/s" in names[0]
    assert "10 min ago" in suggestion_lines({"scratch": {}}, [{**doubt, "age": 600.0}])[0]
