import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { REQUESTS } from "../../lib/protocol/methods.ts";
import type { Connection } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { MAX_LISTED } from "../../lib/server/extension_handlers.ts";
import { ExecServer } from "../../lib/server/serve.ts";
import { FakeBackend } from "../support/fake_backend.ts";
import { ManualClock } from "../support/manual_clock.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") await import("../../lib/process/linux/machine.ts");

const OURS = Object.keys(REQUESTS).filter((name) => name.startsWith("execServer/"));

interface Reply {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server without programs, in this process, whose time passes when a test says so. */
class Stage implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly backend = Object.assign(new FakeBackend(), { [Symbol.dispose]() {} });
  readonly #open: Connection[] = [];
  #served: Promise<unknown>[] = [];

  private constructor(readonly options: { maxDetachedMs?: number }) {}
  #server!: ExecServer;

  static async create(options: { maxDetachedMs?: number } = {}): Promise<Stage> {
    const stage = new Stage(options);
    const { clock, backend } = stage;
    stage.#server = await ExecServer.create({ ...options, clock, backend, log: silentLog });
    return stage;
  }

  connect(): Client {
    const [near, far] = memoryPair();
    this.#open.push(near);
    this.#served.push(this.#server.serve(far, "websocket"));
    return new Client(near);
  }

  /** Ends every connection. */
  async drop(): Promise<void> {
    for (const connection of this.#open) connection.close();
    await Promise.all(this.#served);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drop();
    this.#server[Symbol.dispose]();
  }
}

class Client {
  readonly #connection: Connection;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #lastId = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.start({
      message: (text) => {
        const { id, ...reply } = JSON.parse(text as string) as Reply & { id?: number };
        if (id !== undefined) this.#waiting.get(id)?.(reply);
      },
      ended: () => {},
    });
  }

  ask(method: string, params: unknown = null): Promise<Reply> {
    const id = ++this.#lastId;
    this.#connection.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async initialize(resumeSessionId: string | null = null): Promise<string> {
    const { result } = await this.ask("initialize", { clientName: "test", resumeSessionId });
    this.#connection.send('{"method":"initialized"}');
    return result!["sessionId"] as string;
  }

  start(processId: string, more: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
    const params = { processId, argv: ["x"], cwd: "file:///", env: {}, tty: false, ...more };
    return this.ask("execServer/process/start", params);
  }
}

Deno.test("the extensions want the handshake like all methods", async () => {
  await using stage = await Stage.create();
  const client = stage.connect();
  const params = {
    processId: "p",
    requestId: "r",
    argv: [],
    cwd: "file:///",
    env: {},
    tty: false,
    size: { rows: 0, columns: 0 },
    signal: "?",
    hold: true,
    durationMs: 1,
  };
  for (const method of OURS) {
    const [, group] = method.split("/");
    const family = group === "process" ? "exec" : group;
    const { error } = await client.ask(method, method.endsWith("/list") ? null : params);
    assert.deepEqual(error, {
      code: -32600,
      message: `client must call initialize before using ${family} methods`,
    });
  }
});

Deno.test("a name below execServer/ that is none of ours is unknown like any other", async () => {
  await using stage = await Stage.create();
  const client = stage.connect();
  await client.initialize();
  for (const method of ["execServer/process/kill", "execServer/", "execServer"]) {
    const { error } = await client.ask(method);
    assert.deepEqual(error, { code: -32601, message: `exec-server stub does not implement \`${method}\` yet` });
  }
});

Deno.test("our start hands on what only it can ask for, and refuses what makes no sense before it starts anything", async () => {
  await using stage = await Stage.create();
  const client = stage.connect();
  await client.initialize();
  const started = await client.start("t", {
    tty: true,
    terminalSize: { rows: 1, columns: 65_535 },
    timeLimitMs: 5_000,
  });
  assert.deepEqual(started, { result: { processId: "t", sandboxType: "none" } });
  assert.deepEqual(stage.backend.specs[0]?.terminalSize, { rows: 1, columns: 65_535 });
  stage.clock.advance(5_000);
  assert.deepEqual(stage.backend.child.calls, ["terminate"]);
  const refused: [Record<string, unknown>, string][] = [
    [{ terminalSize: { rows: 1, columns: 1 } }, "terminalSize is for a process with a terminal: set tty"],
    [{ tty: true, terminalSize: { rows: 0, columns: 1 } }, "a terminal cannot have 0 rows"],
    [{ tty: true, terminalSize: { rows: 1, columns: 0 } }, "a terminal cannot have 0 columns"],
    [{ tty: true, terminalSize: { rows: 1, columns: 65_536 } }, "invalid number"],
    [{ tty: true, terminalSize: { rows: 1 } }, "missing field `columns`"],
    [{ tty: true, terminalSize: 5 }, "invalid type: number, expected struct TerminalSize"],
    [{ timeLimitMs: 0 }, "timeLimitMs must be at least 1; leave it out for no limit"],
    [{ timeLimitMs: -1 }, "invalid number"],
    [{ argv: [] }, "argv must not be empty"],
  ];
  for (const [more, message] of refused) {
    assert.deepEqual((await client.start("p", more)).error, { code: -32602, message });
  }
  assert.deepEqual((await client.start("t")).error, { code: -32600, message: "process t already exists" });
  assert.equal(stage.backend.specs.length, 1);
  await client.start("nothing more", { terminalSize: null, timeLimitMs: null });
  assert.equal(Object.hasOwn(stage.backend.specs[1]!, "terminalSize"), false);
});

Deno.test("requests about a process that is unknown, or has no terminal, say so", async () => {
  await using stage = await Stage.create();
  const client = stage.connect();
  await client.initialize();
  const size = { rows: 1, columns: 1 };
  for (
    const [method, more] of [
      ["resize", { size }],
      ["signal", { signal: "SIGTERM" }],
      ["holdOutput", { hold: true }],
      ["status", {}],
    ] as const
  ) {
    const { error } = await client.ask(`execServer/process/${method}`, { processId: "no", ...more });
    assert.deepEqual(error, { code: -32600, message: "unknown process id no" });
  }
  assert.deepEqual(await client.ask("execServer/process/closeStdin", { processId: "no" }), {
    result: { status: "unknownProcess" },
  });
  await client.start("p");
  assert.equal(
    (await client.ask("execServer/process/resize", { processId: "p", size })).error?.message,
    "process p has no terminal",
  );
  assert.match(
    (await client.ask("execServer/process/signal", { processId: "p", signal: "TERM" })).error!.message,
    /^unknown signal `TERM`, expected one of SIGHUP, SIGINT, .*, SIGWINCH$/,
  );
  assert.deepEqual(stage.backend.child.calls, []);
});

Deno.test(`list names ${MAX_LISTED} processes and counts the others: what ended, and what is old, goes first`, async () => {
  await using stage = await Stage.create();
  const client = stage.connect();
  await client.initialize();
  const ended = 10;
  for (let index = 0; index < MAX_LISTED + 5; index++) {
    await client.start(`${index}`);
    if (index % 100 === 50 && index < ended * 100) stage.backend.child.exit(0);
  }
  const list = async () => {
    const { result } = await client.ask("execServer/process/list");
    const { processes, omitted } = result as { processes: { processId: string }[]; omitted: number };
    return { ids: processes.map(({ processId }) => Number(processId)), omitted };
  };
  let { ids, omitted } = await list();
  assert.deepEqual([ids.length, omitted], [MAX_LISTED, 5]);
  const left = (ids: number[], count: number) =>
    Array.from({ length: count }, (_, id) => id).filter((id) => !ids.includes(id));
  assert.deepEqual(left(ids, MAX_LISTED + 5), [50, 150, 250, 350, 450]);
  for (let index = MAX_LISTED + 5; index < MAX_LISTED + 12; index++) await client.start(`${index}`);
  ({ ids, omitted } = await list());
  assert.deepEqual([ids.length, omitted], [MAX_LISTED, 12]);
  assert.deepEqual(left(ids, MAX_LISTED + 12), [0, 1, 50, 150, 250, 350, 450, 550, 650, 750, 850, 950]);
  assert.deepEqual(ids, ids.toSorted((a, b) => a - b));
});

Deno.test("a leased session is there after hours, with its processes and what they said, for the next connection", async () => {
  await using stage = await Stage.create();
  const first = stage.connect();
  const id = await first.initialize();
  await first.start("done");
  const [done] = stage.backend.children;
  await first.start("running");
  assert.deepEqual(await first.ask("execServer/session/lease", { durationMs: 36_000_000 }), {
    result: { durationMs: 36_000_000 },
  });
  await stage.drop();
  done?.say("news");
  done?.exit(0);
  done?.close();
  stage.clock.advance(35_000_000);
  const second = stage.connect();
  assert.equal(await second.initialize(id), id);
  const { result } = await second.ask("execServer/process/list");
  const ids = (result!["processes"] as { processId: string; closed: boolean }[]).map((p) => [p.processId, p.closed]);
  assert.deepEqual(ids, [["done", true], ["running", false]]);
  const read = await second.ask("process/read", { processId: "done" });
  assert.equal((read.result!["chunks"] as { chunk: string }[])[0]?.chunk, btoa("news"));
});

Deno.test("a server that grants no leases says so, and its sessions live as long as usual", async () => {
  await using stage = await Stage.create({ maxDetachedMs: 0 });
  const client = stage.connect();
  const id = await client.initialize();
  assert.deepEqual(await client.ask("execServer/session/lease", { durationMs: 36_000_000 }), {
    result: { durationMs: 0 },
  });
  await stage.drop();
  stage.clock.advance(80_000);
  const { error } = await stage.connect().ask("initialize", { clientName: "late", resumeSessionId: id });
  assert.deepEqual(error, { code: -32600, message: `unknown session id ${id}` });
});

Deno.test("a server does not begin with a longest lease that is no duration", async () => {
  for (const maxDetachedMs of [-1, NaN]) await assert.rejects(Stage.create({ maxDetachedMs }), RangeError);
});

Deno.test("a hold that comes into force when its connection has ended holds nobody, however the request was delayed", async () => {
  await using stage = await Stage.create();
  const first = stage.connect();
  const session = await first.initialize();
  await first.ask("process/start", { processId: "p", argv: ["x"], cwd: "file:///", env: {}, tty: false });
  // The first request for a method of ours: its handler has to be loaded.
  void first.ask("execServer/process/holdOutput", { processId: "p", hold: true });
  await stage.drop();
  const second = stage.connect();
  await second.initialize(session);
  await second.ask("execServer/process/status", { processId: "p" });
  assert.equal(stage.backend.child.say("it goes on"), true);
});
