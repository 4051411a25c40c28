/**
 * The recordings in `filesystem/` are as they were recorded: how the server is started, and what the client did besides,
 * is told by `setup` lines, and long strings are left out. Here they become like the others.
 */
import type { Launch, Line, Meta, Transcript } from "./lines.ts";

/** The files are played as scenarios with this prefix. */
const PREFIX = "fs-";

/** How many bytes a `chunk` that was left out has; its length in characters leaves that open. By scenario and id. */
const OMITTED_CHUNK_BYTES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "block-write-too-long": { 3: 1_048_576, 4: 1_048_577 },
};

/**
 * Texts that hold what only the machine has on which they were recorded, each with what says the same anywhere: the view
 * of a program has the directories that lead to what is granted, and those are where somebody keeps his files. Or it is the
 * machine's pace: of the programs of a pipe those are counted that have been started by then.
 */
const OF_ITS_MACHINE: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "process-sandbox-isolation": [
    [
      "ls /proc | grep -c '^[0-9]'",
      "mkfifo f; sh -c 'read -r x <f; exec ls /proc' | { echo >f; exec grep -c '^[0-9]'; }; rm f",
    ],
  ],
  "process-sandbox-restricted-read": [
    ["> /tmp/probe-file", "> ../probe-file"],
    ["; ls /", "; ls -d /bin /dev /etc /lib /proc /sbin /usr /home /opt /srv 2>/dev/null; true"],
    ["bin\ndev\netc\nlib\nlib64\nproc\nroot\nsbin\ntmp\nusr\nvar\n", "/bin\n/dev\n/etc\n/lib\n/proc\n/sbin\n/usr\n"],
  ],
};

/** The remark that says so. */
const NO_NAMESPACES = "the server runs where new user namespaces cannot be created";

interface Recorded {
  readonly dir: string;
  readonly msg?: Readonly<Record<string, unknown>>;
}

/** @throws If a line is not one of a recording of files. */
export function toTranscript(name: string, recorded: readonly Recorded[]): Transcript {
  let launch: Launch = {};
  let transport: Meta["transport"] | null = null;
  const lines: Line[] = [];
  for (const line of recorded) {
    const { msg } = line;
    if (msg === undefined) throw new Error(`${name}: no msg in ${JSON.stringify(line)}`);
    if (line.dir === "setup" && msg["op"] === "runServerAs") {
      launch = { ...launch, user: { uid: Number(msg["uid"]), gid: Number(msg["gid"]) } };
    } else if (line.dir === "setup" && msg["op"] === "startServer") {
      transport = msg["transport"] as "ws" | "stdio";
      if (typeof msg["umask"] === "string") launch = { ...launch, umask: msg["umask"] };
    } else if (line.dir === "setup" && msg["op"] === "note" && msg["text"] === NO_NAMESPACES) {
      launch = { ...launch, namespacesUsedUp: true };
    } else if (line.dir === "setup" && msg["op"] === "note") lines.push(...noted(name, String(msg["text"])));
    else if (line.dir === "send" && typeof msg["raw"] === "string") lines.push({ dir: "send", raw: msg["raw"] });
    else if (line.dir === "send") lines.push(withChunk(name, anywhere(name, msg)));
    else if (line.dir === "recv") lines.push({ dir: "recv", msg: anywhere(name, msg) });
    else if (["setup", "check"].includes(line.dir)) lines.push(line as Line);
    else throw new Error(`${name}: "dir":${JSON.stringify(line.dir)} is not known`);
  }
  if (transport === null) throw new Error(`${name}: no server is started`);
  const args = ["--listen", transport === "ws" ? "ws://127.0.0.1:0" : "stdio"];
  return { meta: { scenario: PREFIX + name, transport, args, launch }, lines };
}

/** What a remark says that the client did. */
function noted(name: string, text: string): Line[] {
  if (text.startsWith("the client drops the connection and reconnects")) {
    return [{ dir: "event", event: "client dropped TCP connection" }];
  }
  const opened = /^the client first opens handles h0\.\.h(\d+) on (\S+), all accepted/.exec(text);
  if (opened === null) throw new Error(`${name}: the remark ${JSON.stringify(text)} is not known`);
  return Array.from({ length: Number(opened[1]) + 1 }, (_, i): Line[] => {
    const handleId = `h${i}`;
    const params = { handleId, path: `file://${opened[2]}` };
    return [
      { dir: "send", msg: { id: i + 2, method: "fs/open", params } },
      { dir: "recv", msg: { id: i + 2, result: { handleId } } },
    ];
  }).flat();
}

function withChunk(name: string, msg: Readonly<Record<string, unknown>>): Line {
  const [before, after] = JSON.stringify(msg).split(/<\d+ characters>/);
  if (after === undefined) return { dir: "send", msg };
  const bytes = OMITTED_CHUNK_BYTES[name]?.[String(msg["id"])];
  if (bytes === undefined) throw new Error(`${name}: ${String(msg["id"])} has a chunk of unknown size`);
  const padding = "=".repeat((3 - bytes % 3) % 3);
  const suffix = padding + after;
  const totalBytes = before!.length + Math.ceil(bytes / 3) * 4 + after.length;
  return { dir: "send", generated: { prefix: before!, fill: "A", totalBytes, suffix } };
}

/** The same with {@linkcode OF_ITS_MACHINE} replaced, in what is sent and in output. */
function anywhere(name: string, msg: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const replaced = (text: string) =>
    (OF_ITS_MACHINE[name] ?? []).reduce((changed, [before, after]) => changed.replace(before, after), text);
  if (msg["method"] !== "process/output") return JSON.parse(replaced(JSON.stringify(msg)));
  const params = msg["params"] as Readonly<Record<string, unknown>>;
  const text = new TextDecoder().decode(Uint8Array.fromBase64(String(params["chunk"])));
  return { ...msg, params: { ...params, chunk: new TextEncoder().encode(replaced(text)).toBase64() } };
}
