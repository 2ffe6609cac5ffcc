# %% [markdown]
# # Which policy for my jobs?
#
# Three jobs share a file system of 10 GB/s. Who should go first when they want it at the same time?

# %%
import penstock

scenario = penstock.Scenario.from_document(
    {
        "version": 1,
        "platform": {"bandwidth": "10 GB/s", "node_bandwidth": "0.1 GB/s"},
        "window": {"begin": 0, "end": "2 h"},
        "applications": [
            {
                "name": "climate",
                "nodes": 128,
                "phases": [{"repeat": "forever", "phases": [{"compute": "12 min"}, {"write": "4 TB"}]}],
            },
            {
                "name": "training",
                "nodes": 32,
                "phases": [{"repeat": "forever", "phases": [{"read": "300 GB"}, {"compute": "3 min"}]}],
            },
            {
                "name": "imaging",
                "nodes": 64,
                "phases": [{"repeat": "forever", "phases": [{"compute": "5 min"}, {"write": "900 GB"}]}],
            },
        ],
    }
)
scenario

# %% [markdown]
# A comparison is a table: the worst-off job of each policy, how far that is from what no policy can beat, and what
# waiting costs.

# %%
comparison = penstock.compare(scenario, ["fair-share", "fcfs", "greedy-yield", "greedy-com", "steady-reserve"])
comparison

# %% [markdown]
# Each result has a row for every application, as a data frame of pandas, polars or Arrow.

# %%
comparison.best().to_pandas()[["name", "yield", "transferred"]].round(3)

# %% [markdown]
# Plots are figures of Matplotlib, yours to change or to save.

# %%
from penstock.report.plots import comparison_figure

comparison_figure(comparison)
