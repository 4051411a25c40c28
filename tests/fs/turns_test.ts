import assert from "node:assert/strict";
import fc from "fast-check";
import { type Claims, type Line, Turns } from "../../lib/fs/turns.ts";
import { bytesOf } from "./scratch.ts";

/** Runs what the promises that have settled lead to. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

type Kind = "reads" | "readsTree" | "changes" | "makes";

interface Use {
  readonly path: string;
  readonly kind: Kind;
}

function claimsOf(uses: readonly Use[], handle?: Claims["handle"]): Claims {
  const paths = uses.map(({ path, kind }) => ({
    path: bytesOf(path),
    changes: !kind.startsWith("reads"),
    tree: kind !== "reads",
    above: kind === "makes",
  }));
  return handle === undefined ? { paths } : { paths, handle };
}

/** A connection whose requests the test begins and ends. */
class Connection {
  readonly aborter = new AbortController();
  readonly line: Line;

  constructor(turns: Turns) {
    this.line = turns.line(this.aborter.signal);
  }

  ask(uses: readonly Use[], handle?: Claims["handle"]): Request {
    return new Request(this, claimsOf(uses, handle));
  }

  end(): void {
    this.aborter.abort(new Error("ended"));
  }
}

class Request {
  state: "waiting" | "running" | "done" | "failed" | "dropped" = "waiting";
  readonly #work = Promise.withResolvers<void>();

  constructor(connection: Connection, claims: Claims) {
    const result = connection.line.run(claims, () => {
      this.state = "running";
      return this.#work.promise;
    });
    assert.ok(result instanceof Promise);
    result.then(() => this.state = "done", (error: Error) => {
      this.state = error.message === "ended" ? "dropped" : "failed";
    });
  }

  finish(): void {
    this.#work.resolve();
  }

  fail(): void {
    this.#work.reject(new Error("failed"));
  }
}

Deno.test("a request that nothing is before runs at once and needs no promise", () => {
  const { line } = new Connection(new Turns());
  assert.equal(line.run(claimsOf([{ path: "/a", kind: "changes" }]), () => 7), 7);
  assert.throws(() =>
    line.run({ paths: [] }, () => {
      throw new Error("no");
    }), /no/);
});

Deno.test("requests of one connection for one path run in the order in which they came", async () => {
  const connection = new Connection(new Turns());
  const first = connection.ask([{ path: "/a", kind: "changes" }]);
  const second = connection.ask([{ path: "/a", kind: "reads" }]);
  const third = connection.ask([{ path: "/a", kind: "changes" }]);
  const other = connection.ask([{ path: "/b", kind: "changes" }]);
  assert.deepEqual([first.state, second.state, third.state, other.state], ["running", "waiting", "waiting", "running"]);
  first.fail();
  await settle();
  assert.deepEqual([first.state, second.state, third.state], ["failed", "running", "waiting"]);
  second.finish();
  await settle();
  assert.deepEqual([second.state, third.state], ["done", "running"]);
  third.finish();
  other.finish();
  await settle();
  assert.deepEqual([third.state, other.state], ["done", "done"]);
});

Deno.test("requests that only read run side by side", () => {
  const connection = new Connection(new Turns());
  const requests = [
    connection.ask([{ path: "/a", kind: "readsTree" }]),
    connection.ask([{ path: "/a/b", kind: "reads" }]),
    connection.ask([], { id: "h", changes: false }),
    connection.ask([], { id: "h", changes: false }),
  ];
  assert.deepEqual(requests.map(({ state }) => state), ["running", "running", "running", "running"]);
  for (const request of requests) request.finish();
});

Deno.test("connections that live do not wait for each other", () => {
  const turns = new Turns();
  const requests = [new Connection(turns), new Connection(turns)].map((connection) =>
    connection.ask([{ path: "/a", kind: "changes" }], { id: "h", changes: true })
  );
  assert.deepEqual(requests.map(({ state }) => state), ["running", "running"]);
  for (const request of requests) request.finish();
});

Deno.test("the end of a connection drops what waits; a successor waits for what was on its way", async () => {
  const turns = new Turns();
  const gone = new Connection(turns);
  const running = gone.ask([{ path: "/a", kind: "changes" }]);
  const waiting = gone.ask([{ path: "/a", kind: "changes" }]);
  gone.end();
  await settle();
  assert.deepEqual([running.state, waiting.state], ["running", "dropped"]);
  assert.throws(() => gone.line.run({ paths: [] }, () => {}), /ended/);
  const successor = new Connection(turns);
  const after = successor.ask([{ path: "/a", kind: "reads" }]);
  const beside = successor.ask([{ path: "/b", kind: "reads" }]);
  assert.deepEqual([after.state, beside.state], ["waiting", "running"]);
  running.finish();
  await settle();
  assert.equal(after.state, "running");
  after.finish();
  beside.finish();
});

Deno.test("what is being opened under a name is known until it is finished", async () => {
  const { line } = new Connection(new Turns());
  const work = Promise.withResolvers<void>();
  const handle = { id: "h", changes: true };
  const opened = line.run(claimsOf([], { ...handle, opens: bytesOf("/a") }), () => work.promise);
  const used = line.run(claimsOf([{ path: "/b", kind: "changes" }], handle), () => {});
  assert.deepEqual(line.opening("h"), [bytesOf("/a")]);
  assert.deepEqual(line.opening("other"), []);
  work.resolve();
  await opened;
  await used;
  await settle();
  assert.deepEqual(line.opening("h"), []);
});

/** What the order has to be, said once more. */
function conflict(one: Asked, other: Asked): boolean {
  const sameHandle = one.connection === other.connection && one.handle !== null && one.handle.id === other.handle?.id;
  if (sameHandle && (one.handle!.changes || other.handle!.changes)) return true;
  return one.uses.some((a) =>
    other.uses.some((b) => {
      if (a.kind.startsWith("reads") && b.kind.startsWith("reads")) return false;
      const below = (lower: string, upper: string) => `${lower}/`.startsWith(upper === "/" ? upper : `${upper}/`);
      const reaches = (upper: Use, lower: Use) =>
        below(lower.path, upper.path) && (upper.kind !== "reads" || lower.kind === "makes");
      return a.path === b.path || reaches(a, b) || reaches(b, a);
    })
  );
}

interface Asked {
  readonly connection: number;
  readonly uses: readonly Use[];
  readonly handle: { readonly id: string; readonly changes: boolean } | null;
}

const use = fc.record({
  path: fc.constantFrom("/", "/a", "/a/b", "/a/b/c", "/ab", "/b"),
  kind: fc.constantFrom<Kind>("reads", "readsTree", "changes", "makes"),
});
const handle = fc.option(fc.record({ id: fc.constantFrom("g", "h"), changes: fc.boolean() }));
const CONNECTIONS = 3;
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      connection: fc.nat(CONNECTIONS - 1),
      uses: fc.array(use, { maxLength: 2 }),
      handle,
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("finish" as const, "fail" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("end" as const), connection: fc.nat(CONNECTIONS - 1) }) },
);

Deno.test("any requests of any connections wait for exactly those that they have to wait for", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const turns = new Turns();
      const connections = Array.from({ length: CONNECTIONS }, () => new Connection(turns));
      const ended = new Set<number>();
      const all: { request: Request; asked: Asked; before: number[]; expected: Request["state"] }[] = [];
      const over = ({ expected }: { expected: Request["state"] }) => expected !== "waiting" && expected !== "running";
      const begin = () => {
        for (const each of all) {
          if (each.expected === "waiting" && each.before.every((index) => over(all[index]!))) each.expected = "running";
        }
      };
      for (const step of steps) {
        if (step.do === "ask") {
          if (ended.has(step.connection)) continue;
          const before = [...all.keys()].filter((index) => {
            const { asked } = all[index]!;
            return !over(all[index]!) && conflict(asked, step) &&
              (asked.connection === step.connection || ended.has(asked.connection));
          });
          const request = connections[step.connection]!.ask(step.uses, step.handle ?? undefined);
          all.push({ request, asked: step, before, expected: "waiting" });
          begin();
          assert.deepEqual(all.map(({ request }) => request.state), all.map(({ expected }) => expected), "at once");
        } else if (step.do === "end") {
          ended.add(step.connection);
          connections[step.connection]!.end();
          for (const each of all) {
            if (each.asked.connection === step.connection && each.expected === "waiting") each.expected = "dropped";
          }
        } else {
          const running = all.filter(({ expected }) => expected === "running");
          if (running.length === 0) continue;
          const chosen = running[step.which % running.length]!;
          chosen.request[step.do]();
          chosen.expected = step.do === "finish" ? "done" : "failed";
        }
        await settle();
        begin();
        assert.deepEqual(all.map(({ request }) => request.state), all.map(({ expected }) => expected), step.do);
      }
    }),
    { numRuns: 200 },
  );
});
