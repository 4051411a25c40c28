/** What the client asks for in good faith and a program in the same sandbox turns against it. */
import type { Place } from "../../support/place.ts";
import type { Attempt, Meanwhile } from "../attempt.ts";

const DATA = btoa("by a request\n");

/** How long requests are sent at least: a quick server answers some while the program does not run. */
const SWAP_MS = 300;

/**
 * Perl: swaps a directory and a link out of the workspace until it is told to stop. It rests after an odd number of swaps:
 * who only gets to run meanwhile finds now the one, now the other.
 */
const SWAP = `
  mkdir("scratch/directory"); symlink($out, "scratch/way"); mkdir("scratch/ready");
  for (1 .. 400000) {
    call("renameat2", $HERE, "scratch/directory", $HERE, "scratch/way", 2);
    next if $_ % 101; last if -e "scratch/stop"; select(undef, undef, undef, 0.0005);
  }`;

export const REQUESTS: readonly Attempt[] = [
  {
    name: "have requests write through links",
    topic: "requests",
    against: "files",
    async meanwhile(context) {
      const [at, request] = paths(context);
      for (const name of ["ws/link", "ws/dlink/new", "ws/../out/victim", "ws/scratch/../../out/victim"]) {
        await request("fs/writeFile", { path: at(name), dataBase64: DATA });
      }
      await request("fs/createDirectory", { path: at("ws/dlink/made"), recursive: true });
      await request("fs/remove", { path: at("ws/dlink/full"), recursive: true, force: true });
      await request("fs/copy", { sourcePath: at("ws/scratch/file"), destinationPath: at("ws/link"), recursive: false });
      await request("fs/copy", { sourcePath: at("ws/scratch"), destinationPath: at("out/copy"), recursive: true });
    },
  },
  {
    name: "have requests write what is protected",
    topic: "requests",
    against: "files",
    async meanwhile(context) {
      const [at, request] = paths(context);
      for (const name of ["ws/.git/config", "ws/sealed/file", "ws/worktree/.git", "ws/worktree/real/config"]) {
        await request("fs/writeFile", { path: at(name), dataBase64: DATA });
      }
      await request("fs/createDirectory", { path: at("ws/repo/.git/hooks"), recursive: true });
      await request("fs/remove", { path: at("ws/mine/.git"), recursive: true, force: true });
      await request("fs/remove", { path: at("ws/sealed"), recursive: true, force: true });
    },
  },
  {
    name: "have requests read what is denied",
    topic: "requests",
    against: "files",
    async meanwhile(context) {
      const [at, request] = paths(context);
      await Deno.symlink("../denied", `${context.place.ws}/scratch/way`);
      for (const name of ["ws/denied/secret", "ws/scratch/way/secret", "out/secret", "ws/dlink/secret"]) {
        await request("fs/readFile", { path: at(name) });
      }
      await request("fs/copy", {
        sourcePath: at("ws/denied/secret"),
        destinationPath: at("ws/scratch/copy"),
        recursive: false,
      });
      await request("fs/readFile", { path: at("ws/scratch/copy") });
    },
  },
  {
    name: "swap a directory and a link out while requests write into it",
    topic: "swapped directories",
    against: "files",
    script: SWAP,
    async meanwhile(context) {
      const [at, request] = paths(context);
      await untilReady(context.place);
      const write = (index: number) =>
        request("fs/writeFile", { path: at(`ws/scratch/directory/swapped-${index}`), dataBase64: DATA });
      const until = performance.now() + SWAP_MS;
      for (let round = 0; round < 6 || performance.now() < until; round++) {
        await Promise.all([write(2 * round), write(2 * round + 1)]);
        await request("fs/createDirectory", { path: at(`ws/scratch/directory/made-${round}`), recursive: false });
      }
      await Deno.writeTextFile(`${context.place.ws}/scratch/stop`, "");
    },
  },
  {
    name: "swap a directory and a link out while another program writes into it",
    topic: "swapped directories",
    against: "files",
    script: SWAP,
    async meanwhile({ place, run }) {
      await untilReady(place);
      await run(
        'for (1 .. 2000) { spit("scratch/directory/victim"); spit("scratch/way/new") } show("scratch/way/secret");',
      );
      await Deno.writeTextFile(`${place.ws}/scratch/stop`, "");
    },
  },
];

function paths({ place, request }: Meanwhile): [(name: string) => string, Meanwhile["request"]] {
  return [(name) => `file://${place.directory}/${name}`, request];
}

/** Waits until the program swaps, or a moment if it never will. */
async function untilReady({ ws }: Place): Promise<void> {
  for (let times = 0; times < 400; times++) {
    if (await Deno.lstat(`${ws}/scratch/ready`).then(() => true, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
