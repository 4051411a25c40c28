import { largestChunkBytes } from "./differences.ts";
import { DEADLINE_MS, sleep, within } from "./deadline.ts";
import { Guard } from "./guard.ts";
import type { HttpPeer } from "./http_peer.ts";
import type { Inbox } from "./inbox.ts";
import { launchWords } from "./launch.ts";
import { isObject, type MatchContext } from "./match.ts";
import { Mismatch, show } from "./mismatch.ts";
import { sendLine } from "./outgoing.ts";
import { Party } from "./party.ts";
import type { Exit, Program } from "./program.ts";
import { pauseAfter } from "./races.ts";
import { StdioClient } from "./stdio_client.ts";
import { Renumbering } from "./renumbering.ts";
import { Scene } from "./scene.ts";
import { checkOldest, checkOutput, checkRetained } from "./summaries.ts";
import { RunningServer, type Target } from "./target.ts";
import type { CheckLine, EventLine, Line, PeerLine, RecvLine, SendLine, Transcript } from "./lines.ts";
import { WebSocketClient } from "./websocket_client.ts";
import type { Workspace } from "./workspace.ts";

/** How long a program that should go on is watched, in milliseconds. */
const WATCH_MS = 300;
/** How far the server's pings may be from the recorded times, in milliseconds. */
const PING_EARLY_MS = 1_000;
const PING_LATE_MS = 10_000;

/** Plays a recording of messages, over WebSocket or stdio, with as many connections and servers as it has. */
export class Conversation implements AsyncDisposable {
  readonly #parties = new Map<string, Party<WebSocketClient | StdioClient>>();
  readonly #past: AsyncDisposable[] = [];
  readonly #renumbering = new Renumbering();
  readonly #guard: Guard;
  readonly #scene: Scene;
  #server: RunningServer | null = null;
  #program: Program | null = null;
  #retained: ReturnType<typeof checkRetained> | null = null;

  constructor(
    readonly transcript: Transcript,
    readonly target: Target,
    readonly workspace: Workspace,
    readonly context: MatchContext,
    /** Whom `http/request` talks to, if the recording has such requests. */
    readonly peer: HttpPeer | null = null,
  ) {
    this.#guard = new Guard(workspace.root);
    this.#scene = new Scene(this.#guard, context.bindings);
  }

  /** @throws {Mismatch} If the server does anything but what is recorded. */
  async play(): Promise<void> {
    for (const [index, line] of this.transcript.lines.entries()) {
      try {
        await this.#line(line);
      } catch (error) {
        if (error instanceof Mismatch) error.message = `line ${index + 2}: ${error.message}`;
        throw error;
      }
    }
    for (const party of this.#parties.values()) await party.finish();
    this.peer?.finishRequests();
    await this.#endServer();
  }

  async #line(line: Line): Promise<void> {
    if (line.dir === "send") await this.#send(line);
    else if (line.dir === "recv") await this.#receive(line);
    else if (line.dir === "setup") await this.#scene.setUp(line.msg);
    else if (line.dir === "check") await this.#check(line);
    else if (line.dir === "peer") this.#expectRequest(line);
    else await this.#event(line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.#parties.values()) await client[Symbol.asyncDispose]();
    for (const past of this.#past) await past[Symbol.asyncDispose]();
    await this.#server?.[Symbol.asyncDispose]();
    await this.#scene[Symbol.asyncDispose]();
  }

  async #send(line: SendLine): Promise<void> {
    this.peer?.finishRequests();
    await sendLine(await this.#party(line.conn), this.#renumbering.request(line), this.context.bindings, this.#guard);
  }

  async #check({ msg }: CheckLine): Promise<void> {
    if (msg.op === "noReplyWithin") await (await this.#party()).expectNone("reply", msg.ms);
    else if (msg.op === "noNotificationWithin") await (await this.#party()).expectNone("notification", msg.ms);
    else await this.#scene.check(msg);
  }

  #expectRequest({ head, body, count }: PeerLine): void {
    if (count !== undefined) this.peer!.expectRequests(count);
    else this.peer!.expectRequest({ head: head!, body: body! }, this.context.bindings);
  }

  async #receive(line: RecvLine): Promise<void> {
    const party = await this.#party(line.conn);
    if (line.summary !== undefined) return await this.#summary(party, line.summary);
    if (line.frame !== undefined) return await expectFrame(party.inbox, line);
    if (!isObject(line.msg)) throw new Error(`cannot expect ${JSON.stringify(line)}`);
    if (Object.hasOwn(line.msg, "id")) await party.expectReply(this.#renumbering.reply(line.msg));
    else await party.expectNotification(line.msg);
  }

  async #summary(party: Party, summary: Readonly<Record<string, unknown>>): Promise<void> {
    const [processId] = party.started;
    const received = party.inbox.process(processId!);
    const limit = largestChunkBytes(this.context.rules);
    if (summary["method"] === "process/output") {
      party.recorded(processId!).summarisedBytes = summary["totalBytes"] as number;
      await party.expectRecorded(processId!, () => show(summary));
      checkOutput(summary, received, limit);
    } else if (summary["retainedBytes"] !== undefined) {
      this.#retained = checkRetained(summary, await party.takeReply(3), received, limit);
    } else checkOldest(summary, await party.takeReply(4), this.#retained!);
  }

  async #event(line: EventLine): Promise<void> {
    if (line.event === "wait") await sleep(line.ms!);
    else if (line.event === "signal to server") this.#program!.signal(line.signal as Deno.Signal);
    else if (line.event === "server exited") await this.#expectExit({ code: line.code!, signal: line.signal ?? null });
    else if (line.event === "server still running") await this.#expectRunning();
    else if (line.event === "closed") await this.#expectClosed(line);
    else if (line.event === "still-open") await (await this.#party(line.conn)).finish();
    else if (line.event === "client closed stdin") await (await this.#party(line.conn)).client.drop();
    else if (line.event === "client dropped TCP connection") await this.#drop(line);
    else throw new Error(`unknown event ${JSON.stringify(line.event)}`);
    await sleep(pauseAfter(this.transcript.meta.scenario, line.event));
  }

  /** The connection of that name, opened if need be, with a server started if need be. */
  async #party(conn = ""): Promise<Party<WebSocketClient | StdioClient>> {
    const known = this.#parties.get(conn);
    if (known !== undefined) return known;
    const client = this.transcript.meta.transport === "stdio" ? await this.#openStdio() : await this.#openWebSocket();
    const party = new Party(client, {
      scenario: this.transcript.meta.scenario,
      context: this.context,
      sequential: !this.transcript.meta.args!.includes("--concurrent-requests"),
      address: client instanceof WebSocketClient ? client.address : null,
    });
    this.#parties.set(conn, party);
    return party;
  }

  async #openStdio(): Promise<StdioClient> {
    const { cwd } = this.workspace;
    const client = new StdioClient({ words: await this.#words(), cwd, env: await this.#environment() });
    this.#program = client.program;
    return client;
  }

  async #openWebSocket(): Promise<WebSocketClient> {
    const pongs = this.context.rules.allows("pongNeeded");
    if (this.target.kind === "url") return await WebSocketClient.connect(this.target.url, { pongs });
    this.#server ??= await RunningServer.start(await this.#words(), this.workspace, await this.#environment());
    this.#program = this.#server.program;
    return await WebSocketClient.connect(this.#server.url, { pongs });
  }

  async #words(): Promise<string[]> {
    if (this.target.kind === "url") throw new Error("a running server cannot be started");
    const { args, launch } = this.transcript.meta;
    if (launch?.user !== undefined) await this.workspace.giveTo(launch.user);
    const filled = await Promise.all(args!.map((arg) => this.context.bindings.fill(arg)));
    return launchWords([...this.target.words, ...filled], launch);
  }

  async #environment(): Promise<Record<string, string>> {
    const env = this.workspace.environment();
    for (const [name, value] of Object.entries(this.transcript.meta.serverEnv ?? {})) {
      env[name] = await this.context.bindings.fill(value);
    }
    return env;
  }

  async #expectClosed({ conn, how }: EventLine): Promise<void> {
    const party = await this.#party(conn);
    const end = await party.inbox.ended();
    const exact = end.how === "eof" && end.closeCode === null;
    const allowed = this.context.rules.allows("closeFrame") || how === "connection dropped";
    if (end.how === "broken" || !exact && !allowed) throw new Mismatch(`expected ${how}, got ${show(end)}`);
    await party.finish();
    this.#forget(conn);
  }

  async #drop({ conn }: EventLine): Promise<void> {
    const party = await this.#party(conn);
    party.finishReplies();
    for (const [id, received] of party.inbox.processes) {
      this.#renumbering.leave(id, party.compareBeginning(id), received);
    }
    await party.client.drop();
    this.#forget(conn);
  }

  #forget(conn = ""): void {
    this.#past.push(this.#parties.get(conn)!.client);
    this.#parties.delete(conn);
  }

  async #expectExit(expected: Exit): Promise<void> {
    const exit = await within(this.#program!.exited, "exit of the server");
    if (exit.code !== expected.code || exit.signal !== expected.signal) {
      throw new Mismatch(`expected ${show(expected)}, got ${show(exit)}: ${show(await this.#program!.stderr)}`);
    }
    for (const party of this.#parties.values()) await party.inbox.ended();
    await this.#endServer();
  }

  async #expectRunning(): Promise<void> {
    await Promise.race([this.#program!.exited, sleep(WATCH_MS)]);
    if (!this.#program!.running) throw new Mismatch("the server has ended");
  }

  /** Ends the server, if there is one, and makes sure that it ends well and has said nothing but its address. */
  async #endServer(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    await server[Symbol.asyncDispose]();
    const exit = await server.program.exited;
    if (exit.code !== 0) {
      throw new Mismatch(`the server ended with ${show(exit)}: ${show(await server.program.stderr)}`);
    }
    const stdout = await server.program.stdout;
    if (stdout !== `${server.url}\n`) throw new Mismatch(`the server said ${show(stdout)}`);
  }
}

async function expectFrame(inbox: Inbox, line: RecvLine): Promise<void> {
  if (line.frame === "pong") {
    const pong = await inbox.until(() => inbox.pongs.shift(), () => "pong");
    if (pong !== line.payload) throw new Mismatch(`expected a pong with ${show(line.payload)}, got ${show(pong)}`);
    return;
  }
  if (line.frame !== "ping") throw new Error(`cannot expect the frame ${JSON.stringify(line.frame)}`);
  const patience = Math.max(...line.atMs!) + DEADLINE_MS;
  await inbox.until(() => inbox.pings.length >= line.count! || undefined, () => `${line.count} pings`, patience);
  const pings = inbox.pings.map(({ atMs, payload }) => ({ atMs, payloadBytes: payload.length }));
  const wrong = pings.some(({ atMs, payloadBytes }, i) =>
    payloadBytes !== line.payloadBytes || atMs < line.atMs![i]! - PING_EARLY_MS || atMs > line.atMs![i]! + PING_LATE_MS
  );
  if (wrong) throw new Mismatch(`expected ${show(line)}, got ${show(pings)}`);
}
