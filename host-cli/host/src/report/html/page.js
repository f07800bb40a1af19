'use strict';
(function () {
  const run = JSON.parse(document.getElementById('run').textContent);
  const rows = Array.from(document.querySelectorAll('#steps tbody tr'));
  const cells = Array.from(document.querySelectorAll('#waves [data-step]'));
  const lines = Array.from(document.querySelectorAll('#source .line'));
  // The picture tells machines apart by the order of its texts.
  const states = [];
  let machine = -1;
  for (const item of Array.from(document.querySelectorAll('#machine .frame, #machine .name'))) {
    if (item.classList.contains('frame')) machine += 1;
    else states.push({ machine: machine, name: item.textContent, box: item.previousElementSibling });
  }
  let at = 0;

  function mark(item, is) {
    if (item) item.classList.toggle('here', is);
  }

  function go(to) {
    if (run.length === 0) return;
    at = Math.max(0, Math.min(run.length - 1, to));
    const here = run[at];
    rows.forEach((row, i) => mark(row, i === at));
    cells.forEach((cell) => mark(cell, Number(cell.getAttribute('data-step')) === here.state));
    lines.forEach((line) => mark(line, Number(line.getAttribute('data-line')) === here.line));
    states.forEach((state) => mark(state.box, here.states[state.machine] === state.name));
    document.getElementById('at').textContent = at + ' of ' + (run.length - 1);
    const line = lines.find((l) => l.classList.contains('here'));
    for (const item of [rows[at], line]) if (item && item.scrollIntoView) item.scrollIntoView({ block: 'nearest' });
  }

  rows.forEach((row, i) => row.addEventListener('click', () => go(i)));
  cells.forEach((cell) => cell.addEventListener('click', () => {
    const state = Number(cell.getAttribute('data-step'));
    go(run.findIndex((row) => row.state >= state));
  }));
  for (const [id, by] of [['back', -1], ['forward', 1]]) {
    const button = document.getElementById(id);
    if (button) button.addEventListener('click', () => go(at + by));
  }
  document.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(run.length - 1);
    else if (by !== undefined) go(at + by);
    else return;
    event.preventDefault();
  });
  go(0);
})();
