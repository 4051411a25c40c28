import type { CollectedOutput } from "../../client/process.ts";
import { FarPrograms } from "../copy/far_programs.ts";
import { FarSide } from "../copy/far_side.ts";
import { hasLocalTar } from "../copy/local_tar.ts";
import { childUri, shownPath } from "../copy/remote_path.ts";
import { TIDY_MS } from "../copy/patience.ts";
import { randomKey } from "../copy/partial_file.ts";
import { type Check, failed, type Finding, note, ok } from "./check.ts";
import type { ServerContext } from "./server_checks.ts";

/** More than one block of the wire. */
const FILE_BYTES = 1_500_000;
const FILE_SUFFIX = ".exec-server-doctor";

export const program: Check<ServerContext> = {
  name: "program",
  async look(context) {
    const result = await context.client.run({ argv: await shell(context, "echo it runs"), signal: context.signal });
    if (result.code === 0 && result.stdoutText.trim() === "it runs") {
      return ok("a program runs, and its output comes back");
    }
    return failed(
      `a shell wrote something else than it was told to (${outcome(result)})`,
      "look at the shell of the machine",
    );
  },
};

export const terminal: Check<ServerContext> = {
  name: "terminal",
  async look(context) {
    const windows = await isWindows(context);
    const script = windows ? "echo it is one" : "test -t 0 && test -t 1 && echo it is one";
    const argv = await shell(context, script);
    const result = await context.client.run({ argv, tty: true, signal: context.signal });
    if (result.stdoutText.includes("it is one")) return ok("a program on a terminal runs");
    return failed(
      `a program on a terminal found none (${outcome(result)})`,
      windows
        ? "the machine needs ConPTY (Windows 10 1809)"
        : "the machine needs /dev/ptmx and /dev/pts; containers may lack them",
    );
  },
};

export const files: Check<ServerContext> = {
  name: "files",
  async look({ client, signal }): Promise<Finding> {
    const { tempDir } = await client.info({ signal });
    const directory = tempDir ?? "file:///tmp";
    const path = childUri(directory, `.${randomKey()}${FILE_SUFFIX}`);
    const content = noise(FILE_BYTES);
    try {
      await client.files.writeFile(path, content, { signal });
      const { size } = await client.files.stat(path, { signal });
      const back = new Uint8Array(await new Response(await client.files.open(path, { signal })).arrayBuffer());
      if (size !== FILE_BYTES || back.length !== FILE_BYTES || back.some((byte, i) => byte !== content[i])) {
        return failed(`a file in ${shownPath(directory)} came back as another`, "look at the disk of the machine");
      }
    } catch (error) {
      if (!(error instanceof Error) || signal.aborted) throw error;
      return failed(
        `no file can be written in ${shownPath(directory)}: ${error.message}`,
        "look at the rights and the free space of the directory, or start the server with another TMPDIR",
      );
    } finally {
      await client.files.remove(path, { force: true, signal: AbortSignal.timeout(TIDY_MS) });
    }
    return ok(`a file was written to ${shownPath(directory)}, read and removed`);
  },
};

export const copying: Check<ServerContext> = {
  name: "copying",
  async look({ client, signal }): Promise<Finding> {
    const far = new FarSide(client, await client.info({ signal }), signal);
    const [there, here] = [await new FarPrograms(far).canArchive(signal), await hasLocalTar()];
    if (there && here) return ok("cp can copy directories as archives: tar is on both sides");
    const side = here ? "on the server's machine" : there ? "on this machine" : "on either side";
    return note(
      `cp copies directories file by file, without links and times: no tar ${here ? "and mv " : ""}${side}`,
      "install tar there",
    );
  },
};

async function shell(context: ServerContext, script: string): Promise<[string, ...string[]]> {
  return await isWindows(context) ? ["cmd.exe", "/d", "/c", script] : ["/bin/sh", "-c", script];
}

async function isWindows({ client, signal }: ServerContext): Promise<boolean> {
  return (await client.info({ signal })).platformOs === "windows";
}

function outcome({ code, signal }: CollectedOutput): string {
  return signal ?? `exit code ${code}`;
}

/** Bytes of all values, in no order that could come about by mistake; the same at each call. */
function noise(length: number): Uint8Array<ArrayBuffer> {
  let state = 1;
  return Uint8Array.from({ length }, () => (state = (state * 48_271) % 0x7fffffff) & 0xff);
}
