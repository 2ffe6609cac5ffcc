# %% [markdown]
# # A policy of my own
#
# A policy is a function: it sees who does I/O right now, and writes down who gets which rate.

# %%
import penstock


def smallest_first(view, rates):
    """Whoever has the least left to transfer goes first."""
    left = view.capacity
    for row in view.remaining.argsort(kind="stable"):
        rates[row] = min(view.limit[row], left)
        left -= rates[row]


comparison = penstock.compare("examples/four-jobs.yaml", ["fair-share", "greedy-com", smallest_first])
comparison

# %% [markdown]
# Who waited for whom? A run with its timeline can be drawn: above who had the bandwidth, below what each job did.

# %%
from penstock.report.plots import run_figure

run_figure(penstock.simulate("examples/four-jobs.yaml", smallest_first, timeline=True))

# %% [markdown]
# One scenario is one sample. On several workloads, policies are ordered by their mean rank.

# %%
workloads = {
    f"seed {seed}": penstock.generate("synthetic", seed=seed, applications=8, small=2, horizon=5000.0, pressure=1.1)
    for seed in (1, 2, 3)
}
penstock.compare(workloads, ["fair-share", "greedy-com", smallest_first])

# %% [markdown]
# What is wrong with an input is said in one sentence.

# %%
try:
    penstock.simulate("examples/four-jobs.yaml", "smallest-first")
except penstock.PenstockError as error:
    print(str(error).split(" Known:")[0])
