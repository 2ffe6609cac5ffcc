// Of a report: its pictures over time are in its page, each drawn when it is first seen.
for (const svg of document.querySelectorAll("svg.timeline")) {
  const picture = svg.dataset.picture === "passage" ? passage : timeline;
  const show = picture(svg, svg.parentElement.querySelector("output"));
  let drawn = false;
  const first = () => { if (!drawn) { drawn = true; show(JSON.parse(svg.dataset.timeline)); } };
  const details = svg.closest("details");
  if (!details || details.open) first();
  details?.addEventListener("toggle", first);
  addEventListener("beforeprint", first);
  matchMedia("print").addEventListener("change", first);
}
