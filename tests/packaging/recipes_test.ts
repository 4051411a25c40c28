import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { findProgram } from "./linter.ts";
import { textOf } from "./workflow.ts";

/** The executable that is being tested, where one is. */
const BINARY = Deno.env.get("EXEC_SERVER_BINARY");
const INSIDE = "/usr/local/bin/exec-server";

/** In a root ($1) by way of chroot ($2), with what every container has. */
const MOUNT_AND_SERVE =
  `mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec "$2" "$1" ${INSIDE} --listen stdio`;

interface Copy {
  readonly sources: readonly string[];
  readonly directory: string;
}

/** What a Dockerfile takes from another image. */
function copiedFromImages(dockerfile: string): Copy[] {
  const lines = textOf(dockerfile).replaceAll(/\\\n\s*/g, "").split("\n");
  return lines.filter((line) => line.startsWith("COPY --from=")).map((line) => {
    const [, , ...words] = line.split(/\s+/);
    const directory = words.pop()!;
    assert.ok(directory.endsWith("/"), line);
    return { sources: words, directory };
  });
}

const copies = copiedFromImages("packaging/docker/alpine.Dockerfile");
const [unshare, chroot] = [findProgram("unshare"), findProgram("chroot") ?? "/usr/sbin/chroot"];

function isHere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name: "what the recipe for Alpine copies is all that an executable needs: a root with nothing else is enough",
  // The recipe is for x86_64, and takes the files from where Debian has them.
  ignore: BINARY === undefined || Deno.build.target !== "x86_64-unknown-linux-gnu" || unshare === undefined ||
    !copies.every(({ sources }) => sources.every(isHere)),
  fn: async () => {
    const root = await Deno.makeTempDir({ prefix: "exec-server-root-" });
    try {
      for (const { sources, directory } of copies) {
        await Deno.mkdir(root + directory, { recursive: true });
        for (const source of sources) await Deno.copyFile(source, `${root}${directory}${source.split("/").pop()}`);
      }
      for (const name of ["/usr/local/bin", "/dev", "/proc", "/tmp"]) {
        await Deno.mkdir(root + name, { recursive: true });
      }
      await Deno.copyFile(BINARY!, root + INSIDE);
      const lines = await conversation(root, [
        { id: 1, method: "initialize", params: { clientName: "recipe" } },
        { method: "initialized" },
        {
          id: 2,
          method: "process/start",
          // The only program that there is.
          params: { processId: "p", argv: [INSIDE, "--version"], cwd: "file:///tmp", env: {}, tty: false },
        },
      ]);
      const output = lines.find(({ method }) => method === "process/output")?.params.chunk;
      assert.equal(output, btoa(`exec-server ${config.version}\n`), JSON.stringify(lines));
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});

/** What the executable in that root says until a program has ended, or could not be started. */
async function conversation(root: string, messages: readonly unknown[]) {
  const child = new Deno.Command(unshare!, {
    args: [
      ...["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"],
      ...["sh", "-c", MOUNT_AND_SERVE, "sh", root, chroot],
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(messages.map((message) => JSON.stringify(message) + "\n").join("")));
  let text = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('"process/closed"') || text.includes('"error"')) break;
  }
  await writer.close();
  assert.equal((await child.status).code, 0);
  return text.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
}
