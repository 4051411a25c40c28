import assert from "node:assert/strict";
import { type Circumstances, json, markdown, plain } from "./report.ts";
import { Samples } from "./samples.ts";

const WHERE: Circumstances = {
  date: "2026-01-02",
  cpu: "A processor",
  cores: 2,
  kernel: "Linux 6.0",
  deno: "2.9.6",
  version: "0.1.0",
  reference: "0.171.0",
};

function lines() {
  const samples = new Samples();
  samples.add("connect", "ws", "ours", 1);
  samples.add("connect", "ws", "reference", 2);
  samples.add("pipe-200mb", "stdio", "ours", 100);
  samples.add("pipe-200mb", "stdio", "reference", 400);
  return samples.lines();
}

Deno.test("markdown prints a table that names what was missed, and where it was measured", () => {
  assert.equal(
    markdown(lines(), WHERE),
    `|  | over | ours | reference | ours/reference | target |  |
| --- | --- | --: | --: | --: | --: | --- |
| connect | WebSocket | 1.00 ms | 2.00 ms | 0.50 | ≤ 1.1 | met |
| 200 MB through pipes | stdio | 100 MB/s | 400 MB/s | 0.25 | ≥ 1.5 | **missed** |

2026-01-02, A processor, 2 cores, Linux 6.0; exec-server 0.1.0 on Deno 2.9.6, reference 0.171.0.
`,
  );
});

Deno.test("a bound of our own figure is told with its unit", () => {
  const samples = new Samples();
  samples.add("memory-read-100mb", "ws", "ours", 350);
  assert.match(markdown(samples.lines(), WHERE), /\| 350 MB \| – \| – \| ≤ 400 MB \| met \|/);
});

Deno.test("plain lines up the columns", () => {
  const [, , heading, first, second] = plain(lines(), WHERE).split("\n");
  assert.equal(heading!.indexOf("target") + 6, first!.indexOf("≤ 1.1") + 5);
  assert.equal(first!.indexOf("WebSocket"), second!.indexOf("stdio"));
});

Deno.test("json tells the circumstances and each row", () => {
  const { circumstances, rows } = JSON.parse(json(lines(), WHERE));
  assert.deepEqual(circumstances, WHERE);
  assert.deepEqual(rows[1], {
    id: "pipe-200mb",
    unit: "MB/s",
    quantile: 0.5,
    carrier: "stdio",
    samples: { ours: 1, reference: 1 },
    value: { ours: 100, reference: 400 },
    ratio: 0.25,
    target: 1.5,
    limit: null,
    met: false,
  });
});
