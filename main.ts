/** Runs the command that the command line names; without one opens the transport and serves until a signal or the end. */

import { parseServeOptions, type RemoteServeOptions, type ServeOptions } from "./lib/cli/serve_options.ts";
import { UsageError } from "./lib/cli/usage_error.ts";
import { createLog, type Log, type LogLevel } from "./lib/log.ts";
import { LogSink } from "./lib/log_sink.ts";
import { removeNodeStandIn } from "./lib/node_stand_in.ts";
import { noObserver } from "./lib/observer.ts";
import type { ByteSink } from "./lib/rpc/stdio.ts";
import { runHiddenPart } from "./lib/server/hidden_parts.ts";
import type { ExecServer } from "./lib/server/serve.ts";

/** How long the last answers of a stdio server may wait for a reader after its input has ended. */
const FLUSH_PATIENCE_MS = 1_000;

if (!await runHiddenPart(Deno.args)) await main();

async function main(): Promise<void> {
  // An executable has no Deno that stands in; what it finds there is the user's.
  if (!Deno.build.standalone) removeNodeStandIn(Deno.env, Deno.build.os === "windows" ? ";" : ":");
  try {
    // What begins with a dash is the server's. A word of no command is as well, and it refuses it.
    if (Deno.args[0]?.startsWith("-") === false) {
      const code = await runNamedCommand(Deno.args);
      if (code !== undefined) Deno.exit(code);
    }
    const command = parseServeOptions(Deno.args, (name) => Deno.env.get(name));
    switch (command.kind) {
      case "help":
        return Deno.exit(await runNamedCommand(["help"]));
      case "version":
        return print(`exec-server ${(await import("./lib/version.ts")).VERSION}\n`);
      case "serve":
        return await serve(command.options);
      case "remote":
        return Deno.exit(await serveRemotely(command.options));
      case "forward":
        warnOfIdle(createLog("warn"), command.idle, "before the word forward");
        Deno.exit(await runNamedCommand(["forward", ...command.argv]));
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [code, text] = error instanceof UsageError ? [error.exitCode, error.message] : [1, `Error: ${error.message}`];
    complain(text + "\n");
    Deno.exit(code);
  }
}

/** A command of people; loaded with all that it needs, of which the server needs nothing. */
async function runNamedCommand(argv: readonly string[]): Promise<number | undefined> {
  const [{ runCommand }, { denoCli }] = await Promise.all([
    import("./lib/cli/dispatch.ts"),
    import("./lib/cli/deno_cli.ts"),
  ]);
  return await runCommand(argv, denoCli(import.meta.url, openLog));
}

/** Remote mode; loaded with all that it needs, of which local mode needs nothing. */
async function serveRemotely(options: RemoteServeOptions): Promise<number> {
  const [{ runRemote }, { denoCli }] = await Promise.all([
    import("./lib/cli/remote_run.ts"),
    import("./lib/cli/deno_cli.ts"),
  ]);
  return await runRemote(options, denoCli(import.meta.url, openLog));
}

async function openLog(level: LogLevel): Promise<Log> {
  const sink = new LogSink();
  const stderr = await promptWriterOf(2);
  if (stderr !== undefined) sink.useNow(stderr.writeNow);
  return createLog(level, (line) => sink.write(line));
}

function warnOfIdle(log: Log, options: readonly string[], where: string): void {
  if (options.length > 0) log.warn(`options have no effect ${where}`, { options: options.join(" ") });
}

function serve(options: ServeOptions): Promise<void> {
  const sink = new LogSink();
  const log = createLog(options.logLevel, (line) => sink.write(line));
  warnOfIdle(log, options.idle, "without --remote");
  let server: ExecServer | undefined;
  const end = (code: number): never => {
    server?.[Symbol.dispose]();
    Deno.exit(code);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => {
      log.info("ending", { signal });
      end(0);
    });
  }
  const load = async (): Promise<ExecServer> => {
    const [{ ExecServer }, stderr] = await Promise.all([import("./lib/server/serve.ts"), promptWriterOf(2)]);
    if (stderr !== undefined) sink.useNow(stderr.writeNow);
    const observer = options.logLevel === "debug"
      ? (await import("./lib/log_observer.ts")).logObserver(log)
      : noObserver;
    server = await ExecServer.create({
      concurrentRequests: options.concurrentRequests,
      maxDetachedMs: options.maxDetachedMs,
      sandbox: { choice: options.sandbox, secretPaths: await secretPaths(options.auth) },
      log,
      observer,
    });
    void import("./lib/server/leftovers.ts").then(({ removeLeftovers }) => removeLeftovers(log));
    return server;
  };
  return options.listen.kind === "stdio" ? serveStdio(load, end) : serveWebSocket(options, log, load, end);
}

async function serveStdio(load: () => Promise<ExecServer>, end: (code: number) => never): Promise<void> {
  const [server, { stdioConnection }, output] = await Promise.all([load(), import("./lib/rpc/stdio.ts"), stdout()]);
  const connection = stdioConnection(Deno.stdin, output);
  await server.serve(connection, "stdio");
  server[Symbol.dispose]();
  // What was answered still leaves, unless nobody reads it.
  await Promise.race([connection.flushed(), new Promise((resolve) => setTimeout(resolve, FLUSH_PATIENCE_MS))]);
  end(0);
}

/** On Linux small answers leave without the way through another thread. */
async function stdout(): Promise<ByteSink> {
  return { write: (bytes) => Deno.stdout.write(bytes), ...await promptWriterOf(1) };
}

/** A way to write that never waits, where there is one: on Linux, if the descriptor is a pipe. */
async function promptWriterOf(fd: number) {
  if (Deno.build.os !== "linux") return undefined;
  return (await import("./lib/linux/prompt_writer.ts")).promptWriter(fd);
}

async function serveWebSocket(
  options: ServeOptions,
  log: Log,
  load: () => Promise<ExecServer>,
  end: (code: number) => never,
): Promise<void> {
  if (options.listen.kind !== "websocket") throw new TypeError("not a WebSocket address");
  const { listen, isLoopback } = await import("./lib/server/listener.ts");
  const { hostname, port } = options.listen;
  const authorize = options.auth === null ? null : await authorizer(options.auth);
  if (authorize === null && !isLoopback(hostname)) {
    log.warn("listening beyond this machine without authentication: everyone who reaches the port can run programs");
  }
  // The address is printed before the rest is loaded: a client needs longer to connect than we to be ready.
  const loading = Promise.withResolvers<ExecServer>();
  const listener = listen({
    address: { hostname, port },
    authorize,
    allowedOrigins: options.allowedOrigins,
    log,
    ...(Deno.build.os === "linux" ? { acknowledge } : {}),
    onConnection: (connection) => void loading.promise.then((server) => server.serve(connection, "websocket")),
  });
  print(`${listener.url}\n`);
  load().then(loading.resolve, (error) => {
    complain(`Error: ${error.message}\n`);
    end(1);
  });
}

/** Clients whose system waits for it send their first request 40 ms sooner. */
function acknowledge(peer: Deno.NetAddr): void {
  void import("./lib/linux/tcp.ts").then(({ acknowledgeNow }) => acknowledgeNow(peer));
}

async function authorizer(settings: NonNullable<ServeOptions["auth"]>) {
  const { createAuthorizer } = await import("./lib/server/auth.ts");
  return await createAuthorizer(settings, {
    ...authPlace(),
    readFile: (path) => Deno.readFileSync(path),
    now: () => Date.now(),
  });
}

/** What nothing in a sandbox may read. */
async function secretPaths(auth: ServeOptions["auth"]): Promise<string[]> {
  const path = auth === null ? undefined : (await import("./lib/server/auth.ts")).secretFile(auth, authPlace());
  return path === undefined ? [] : [path];
}

/** Where the files are looked for that the command line names. */
function authPlace() {
  return { cwd: () => Deno.cwd(), home: Deno.env.get("HOME") };
}

function print(text: string): void {
  writeAll(Deno.stdout, text);
}

function complain(text: string): void {
  writeAll(Deno.stderr, text);
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(to.writeSync(rest));
}
