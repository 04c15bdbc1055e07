// The table of students: sorting by a column, filtering, and no more rows at a time than a phone draws quickly.
"use strict";
(() => {
  const STEP = 100;
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const more = document.getElementById("more");
  const shown = document.getElementById("shown");
  const filters = document.getElementById("filters");
  const field = (name) => document.getElementById("filter-" + name);
  const number = (text) => (text === "" ? -1 : parseFloat(text));
  const rows = Array.from(body.rows, (row) => ({
    element: row,
    name: row.cells[0].textContent.toLowerCase(),
    stuck: row.dataset.stuck.split(" "),
    status: row.dataset.status.split("|"),
    people: "nobody" in row.dataset ? 0 : 1,
    keys: Array.from(row.cells, (cell, i) =>
      i === 0 || i === row.cells.length - 1
        ? cell.textContent.toLowerCase()
        : number(cell.dataset.value ?? cell.textContent.trim())
    ),
  }));
  const everyone = rows.reduce((sum, row) => sum + row.people, 0);
  let limit = STEP;

  function draw() {
    const name = field("name").value.trim().toLowerCase();
    const stuck = field("stuck").value;
    const status = field("status") ? field("status").value : "";
    let found = 0;
    let people = 0;
    for (const row of rows) {
      const fits =
        row.name.includes(name) && (!stuck || row.stuck.includes(stuck)) && (!status || row.status.includes(status));
      found += fits;
      people += fits ? row.people : 0;
      const hidden = !fits || found > limit;
      if (row.element.hidden !== hidden) row.element.hidden = hidden;
    }
    shown.value = `${people.toLocaleString("en")} of ${everyone.toLocaleString("en")} student${everyone === 1 ? "" : "s"}`;
    more.hidden = found <= limit;
    more.textContent = `Show all ${found.toLocaleString("en")}`;
  }

  function sort(column, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    rows.sort((a, b) => sign * (a.keys[column] < b.keys[column] ? -1 : a.keys[column] > b.keys[column] ? 1 : 0));
    body.append(...rows.map((row) => row.element));
    draw();
  }

  Array.from(table.tHead.rows[0].cells, (head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column, head));
    head.append(button);
  });
  filters.addEventListener("input", () => ((limit = STEP), draw()));
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(() => ((limit = STEP), draw())));
  more.addEventListener("click", () => ((limit = rows.length), draw()));
  for (const button of document.querySelectorAll("button[data-stuck], button[data-status]"))
    button.addEventListener("click", () => {
      filters.reset();
      const kind = button.dataset.stuck ? "stuck" : "status";
      field(kind).value = button.dataset[kind];
      limit = STEP;
      document.getElementById("students").scrollIntoView();
      field(kind).focus({ preventScroll: true });
    });
  filters.hidden = false;
  draw();
})();
