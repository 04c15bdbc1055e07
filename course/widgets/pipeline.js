/* An experiment to steer: schedules of a pipeline, and a moment in them.

   The interface is anywidget's. `tables` maps "schedule/stages/micro-batches" to the runs of each stage, written as
   course/widgets/pipeline.py says; `schedules` has the words, the durations and the parts of the model by schedule.
   `stops` says where the controls can be set, and `start` what is shown first. */

const [TOP, LEFT, RIGHT, BOTTOM] = [22, 22, 34, 40]; // pixels around the rows
const WORDS = { F: "forward", B: "backward", W: "weights" };

// ---- the schedule

/* A table's runs, what each stage holds when, and the bubble. A moment is the time just after it. */
function unfold(texts, { durations, chunks }) {
  const stages = texts.map((text) =>
    text.match(/..../g).map((code) => {
      const kind = code[0].toUpperCase();
      const start = parseInt(code.slice(2), 36) / 2;
      return { kind, part: code[0] === kind ? 0 : 1, microbatch: parseInt(code[1], 36), start, end: start + durations[kind] / chunks };
    }),
  );
  const end = Math.max(...stages.map((runs) => runs.at(-1).end));
  const last = "W" in durations ? "W" : "B"; // the job after which the activations are no longer needed
  const before = (runs, time) => runs.filter((run) => run.start <= time);
  const runningAt = (stage, time) => before(stages[stage], time).find((run) => run.end > time);
  const workedAt = (stage, time) => before(stages[stage], time).reduce((sum, run) => sum + Math.min(run.end, time) - run.start, 0);
  function heldAt(stage, time) {
    const gone = new Set(stages[stage].filter((run) => run.kind === last && run.end <= time).map(({ part, microbatch }) => `${part}/${microbatch}`));
    return before(stages[stage], time).filter(({ kind, part, microbatch }) => kind === "F" && !gone.has(`${part}/${microbatch}`));
  }
  const tick = chunks === 1 ? 1 : 0.5;
  const times = Array.from({ length: Math.round(end / tick) + 1 }, (_, i) => i * tick);
  const held = stages.map((_, stage) => times.map((time) => heldAt(stage, time).length / chunks));
  const most = held.map((counts) => Math.max(...counts));
  const idle = stages.map((_, stage) => end - workedAt(stage, end));
  const highest = times[Math.min(...held.map((counts) => counts.indexOf(Math.max(...most))).filter((at) => at >= 0))];
  return { stages, end, tick, times, held, most, idle, highest, chunks, runningAt, workedAt, heldAt };
}

// ---- words

const number = (value) => String(Number(value.toFixed(2)));
const named = ({ part, microbatch }) => `${microbatch + 1}${part ? "′" : ""}`;
const batches = (count) => `${number(count)} micro-batch${count === 1 ? "" : "es"}`;

/* Micro-batches, counted from 1, with dashes: 3–6, 1′–4′. */
function list(held) {
  const found = [];
  for (const part of [0, 1]) {
    const runs = [];
    for (const run of held.filter((one) => one.part === part).sort((a, b) => a.microbatch - b.microbatch))
      if (runs.length && runs.at(-1).at(-1).microbatch === run.microbatch - 1) runs.at(-1).push(run);
      else runs.push([run]);
    for (const run of runs) found.push(run.length === 1 ? named(run[0]) : `${named(run[0])}${run.length > 2 ? "–" : ", "}${named(run.at(-1))}`);
  }
  return found.join(", ");
}

// ---- the drawing

/* The smallest of 1, 2, 5, 10, … that cuts `span` into at most `pieces`. */
const stepFor = (span, pieces) => [1, 2, 5, 10, 20, 50].find((step) => span / step <= pieces) ?? 100;

function plot(width, schedule, microbatches) {
  const { stages, end, times, held, most } = schedule;
  const [jobs, store, gap] = stages.length > 4 ? [18, 13, 5] : [24, 18, 8]; // a stage's jobs, and below them what it holds
  const right = width - RIGHT;
  const x = (time) => LEFT + (time / end) * (right - LEFT);
  const y = (stage) => TOP + stage * (jobs + store + gap);
  const bottom = y(stages.length) - gap;
  const label = "Jobs of each stage, time from left to right, and below them how many micro-batches the stage holds. The table says each moment.";
  const picture = svg("svg", { class: "plot", width, height: bottom + BOTTOM, role: "img", "aria-label": label });
  const text = (at, up, words, anchor, kind = "") => svg("text", { x: at, y: up, "text-anchor": anchor, class: kind }, words);
  picture.append(text(2, 13, "stage", "start"), text(width - 2, 13, "most held", "end"));
  stages.forEach((runs, stage) => {
    const [top, floor] = [y(stage), y(stage) + jobs + store];
    picture.append(text(2, top + jobs / 2 + 4, String(stage), "start"), text(width - 2, floor - 2, number(most[stage]), "end", "most"));
    picture.append(svg("rect", { class: "idle", x: x(0), y: top, width: x(end) - x(0), height: jobs }));
    const level = (count) => floor - (count / microbatches) * (store - 3);
    const curve = held[stage].map((count, i) => `V${level(count).toFixed(1)}H${x(times[i + 1] ?? end).toFixed(1)}`);
    picture.append(svg("path", { class: "store", d: `M${x(0)} ${floor}${curve.join("")}V${floor}z` }));
    picture.append(svg("path", { class: "grid", d: `M${x(0)} ${floor}H${x(end)}` }));
    for (const run of runs) {
      const [from, wide] = [x(run.start), x(run.end) - x(run.start)];
      picture.append(svg("rect", { class: `job ${run.kind} part${run.part}`, "data-stage": stage, x: from.toFixed(2), y: top + 0.5, width: Math.max(0.8, wide - 0.8).toFixed(2), height: jobs - 1 }));
      if (run.kind === "W") picture.append(svg("path", { class: "stroke", d: `M${from} ${top + jobs - 1}L${from + wide - 0.8} ${top + 1}` }));
      else if (wide > (microbatches > 9 ? 16 : 9)) picture.append(text(from + wide / 2 - 0.4, top + jobs / 2 + 4, String(run.microbatch + 1), "middle", `in ${run.kind} part${run.part}`));
    }
  });
  const every = stepFor(end, width < 480 ? 6 : 12);
  for (let time = 0; time <= end; time += every) picture.append(text(x(time), bottom + 16, String(time), "middle"));
  picture.append(text(right, bottom + 34, "time", "end"));

  const cursor = svg("g", { class: "cursor" });
  picture.append(cursor);
  function move(time) {
    const at = x(Math.min(end, time + schedule.tick / 2));
    const rings = stages.map((_, stage) => schedule.runningAt(stage, time)).flatMap((run, stage) =>
      run ? [svg("rect", { class: "ring", x: x(run.start) - 1, y: y(stage) - 1, width: x(run.end) - x(run.start) + 1.2, height: jobs + 2 })] : []);
    cursor.replaceChildren(svg("path", { d: `M${at} ${TOP - 4}V${bottom}` }), ...rings);
  }
  const timeAt = (px) => times[Math.min(times.length - 1, Math.max(0, Math.floor(((px - LEFT) / (right - LEFT)) * (times.length - 1))))];
  return { picture, move, timeAt };
}

// ---- the widget

export default {
  render({ model, el }) {
    const [tables, schedules, stops, start] = ["tables", "schedules", "stops", "start"].map((name) => model.get(name));
    const state = { ...start, time: null }; // what the reader chose; `key` says what can be shown of it
    let [now, drawn, width, name] = [null, null, 0, ""];

    const key = (schedule) => `${schedule}/${state.stages}/${state.microbatches}`;
    const offered = stops.schedule.map((value) => [value, schedules[value].words]);
    const which = radios("Schedule", "schedule", offered, state.schedule, (schedule) => choose({ schedule }));
    function slider(words, of) {
      const { input, shown, label } = stopsSlider(words, of, stops[of], state[of], (value) => {
        choose({ [of]: value });
        show();
      });
      const show = () => {
        shown.textContent = state[of];
        input.setAttribute("aria-valuetext", state[of]);
      };
      show();
      return label;
    }
    const sliders = html("div", { class: "sliders" }, slider("Stages", "stages"), slider("Micro-batches", "microbatches"));

    const [stage, moment] = [html("div"), html("div", { class: "moment" })];
    const scrubber = html("input", { type: "range", name: "time", class: "time", min: 0, step: 1, "aria-label": "Time" });
    scrubber.addEventListener("input", () => go(now.times[scrubber.value]));
    const verdict = html("p", { class: "said", "aria-live": "polite" });
    const legend = html("div", { class: "legend" });

    /* What there is to see in the drawing. */
    function marks() {
      const rect = (kind) => svg("rect", { class: kind, x: 1, y: 1, width: 16, height: 10 });
      const entries = [[[rect("job F part0")], "forward"], [[rect("job B part0")], "W" in schedules[name].durations ? "gradient of the input" : "backward"]];
      if ("W" in schedules[name].durations) entries.push([[rect("job W part0"), svg("path", { class: "stroke", d: "M1 11L17 1" })], "gradients of the weights"]);
      if (now.chunks > 1) entries.push([[rect("job F part1")], "second part of the model, ′ in the table"]);
      entries.push([[rect("store")], "held"]);
      return entries.map(([shapes, words]) => html("span", {}, svg("svg", { class: "swatch", width: 18, height: 12, "aria-hidden": "true" }, ...shapes), words));
    }

    function table(time) {
      const head = ["stage", "computes", "holds", "these", "idle so far"].map((words) => html("th", { scope: "col" }, words));
      const rows = now.stages.map((_, of) => {
        const [run, held] = [now.runningAt(of, time), now.heldAt(of, time)];
        const does = html("td", run ? {} : { class: "rests" }, run ? `${WORDS[run.kind]} ${named(run)}` : "idle");
        const counts = [number(held.length / now.chunks), list(held) || "–", number(time - now.workedAt(of, time))];
        return html("tr", {}, html("th", { scope: "row" }, String(of)), does, ...counts.map((words) => html("td", {}, words)));
      });
      return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
    }

    function go(time) {
      state.time = time;
      const at = now.times.indexOf(time);
      scrubber.value = at;
      const idle = now.stages.filter((_, of) => !now.runningAt(of, time)).length;
      const words = `Time ${number(time)} of ${number(now.end)}: ${idle} of ${now.stages.length} stages idle.`;
      scrubber.setAttribute("aria-valuetext", words);
      moment.replaceChildren(html("p", {}, words), table(time));
      drawn.move(time);
    }

    function draw() {
      drawn = plot(Math.max(width, 280), now, state.microbatches);
      stage.replaceChildren(drawn.picture);
      drawn.move(state.time);
    }

    function choose(change) {
      Object.assign(state, change);
      name = key(state.schedule) in tables ? state.schedule : "1f1b";
      for (const input of which.elements) {
        input.checked = input.value === name;
        input.disabled = !(key(input.value) in tables);
      }
      now = unfold(tables[key(name)], schedules[name]);
      const most = Math.max(...now.most);
      const where = now.most.flatMap((count, of) => (count === most ? [of] : []));
      const at = where.length === now.most.length ? "every stage" : where.length === 1 ? `stage ${where[0]}` : `stages ${where[0]} to ${where.at(-1)}`;
      const instead = name === state.schedule ? [] : [`${batches(state.microbatches)} cannot be dealt out in groups of ${state.stages}, so this is plain 1F1B. `];
      verdict.replaceChildren(...instead,
        html("strong", {}, `Bubble: ${((100 * now.idle[0]) / now.end).toFixed(1)} %`), `, each stage idle for ${number(now.idle[0])} of ${number(now.end)}. `,
        html("strong", {}, `Most held: ${batches(most)}`), `, on ${at}.`);
      legend.replaceChildren(...marks());
      scrubber.stops = now.times;
      scrubber.max = now.times.length - 1;
      const time = state.time === null ? now.highest : Math.min(state.time, now.end);
      state.time = now.times.findLast((one) => one <= time);
      draw();
      go(state.time);
    }

    drag(stage, (x) => go(drawn.timeAt(x)));

    const steer = html("div", { class: "controls" }, which, sliders);
    const form = html("form", { autocomplete: "off" }, steer, verdict, legend, stage, scrubber, moment);
    choose({});
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "pipeline", form, steer, drawing: stage, redraw });
  },
};
