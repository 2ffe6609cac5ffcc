# %% [markdown]
# # Is it more than luck?
#
# A campaign runs plans on many draws of a workload. Here: four policies, two pressures, eight seeds.

# %%
import tempfile

from penstock.campaign import Campaign, rank_plans, read_results, run_campaign, summarise

campaign = Campaign.from_document(
    {
        "version": 1,
        "name": "luck",
        "workloads": [
            {
                "generate": "synthetic",
                "set": {"pressure": [0.8, 1.1], "applications": 12, "small": 4, "horizon": 20000},
                "seeds": "1-8",
            }
        ],
        "plans": ["fair-share", "fcfs", "greedy-yield", "steady-reserve"],
        "metrics": ["min_yield", "efficiency"],
    },
    ".",
)
folder = tempfile.mkdtemp()
report = run_campaign(campaign, folder, workers=1)
report.runs, report.failed

# %% [markdown]
# Every mean has an interval, and every plan is compared with the first pair by pair: a difference that is smaller than
# its noise is a tie.

# %%
results = read_results(folder)
for entry in summarise(results, ["min_yield"], by=["pressure"]):
    verdict = entry.against.verdict if entry.against else "reference"
    print(f"{entry.group['pressure']}  {entry.plan:14}  {entry.mean.mean:.4f}  {verdict}")

# %% [markdown]
# The overall ranking tests every pair of plans and corrects for their number (Holm).

# %%
rank_plans(results, "min_yield")

# %%
from penstock.report.campaign.plot import Looks, campaign_figure

campaign_figure(
    summarise(results, ["min_yield"]), "pressure", Looks(size=(6.0, 3.2), highlight=frozenset({"steady-reserve"}))
)
