/**
 * The only programs that random requests start, with all their arguments: each is harmless whatever its environment
 * and working directory are, and ends by itself within seconds.
 */
export interface Fixture {
  readonly argv: readonly string[];
  /** Runs for some seconds unless it is signalled; the others end at once. */
  readonly stays?: true;
  /** What it prints before it can be signalled, without line ends. */
  readonly ready?: string;
  /** Repeats its input, and runs for as long as its input is open. Used on pipes only. */
  readonly echoes?: true;
  /** Prints the environment: the order of its lines is chance, and the search path is the server's. */
  readonly environment?: true;
}

export const FIXTURES: readonly Fixture[] = [
  { argv: ["/bin/true"] },
  { argv: ["/bin/false"] },
  { argv: ["/bin/echo", "hello"] },
  { argv: ["/bin/echo", "-n", "é\u0001\u{1f600}"] },
  { argv: ["echo", "found"] },
  { argv: ["pwd"] },
  { argv: ["/bin/sh", "-c", "pwd"] },
  { argv: ["/bin/sh", "-c", "exit 7"] },
  { argv: ["/bin/sh", "-c", "printf out; exit 3"] },
  { argv: ["/bin/sh", "-c", "echo error >&2; exit 255"] },
  { argv: ["/bin/sh", "-c", "echo Operation not permitted >&2; exit 1"] },
  { argv: ["/bin/sh", "-c", "echo read-only file system; exit 127"] },
  { argv: ["/bin/sh", "-c", "kill -TERM $$"] },
  { argv: ["/bin/sh", "-c", "kill -KILL $$"] },
  { argv: ["/bin/sh", "-c", 'echo "$0 $1 $#"', "zero", "one"] },
  { argv: ["/bin/sh", "-c", "tr '\\0' '|' < /proc/$$/cmdline"] },
  { argv: ["/bin/sh", "-c", "[ -t 0 ]; a=$?; [ -t 1 ]; b=$?; [ -t 2 ]; echo $a $b $?"] },
  { argv: ["/bin/sh", "-c", "ulimit -c; umask"] },
  { argv: ["/usr/bin/env"], environment: true },
  { argv: ["./script.sh"] },
  { argv: ["sub/../script.sh"] },
  { argv: ["script.sh"] },
  // These do not start.
  { argv: [] },
  { argv: [""] },
  { argv: ["", "x"] },
  { argv: ["/"] },
  { argv: ["."] },
  { argv: ["sub"] },
  { argv: ["./sub"] },
  { argv: ["./noexec.sh"] },
  { argv: ["./nohash"] },
  { argv: ["./file.txt/x"] },
  { argv: ["/no/such/program"] },
  { argv: ["no-such-program"] },
  { argv: ["no/such/program"] },
  { argv: ["/bin/echo", "a\u0000b"] },
  { argv: ["/bin/ec\u0000ho"] },
  // These stay.
  { argv: ["/bin/cat"], stays: true, echoes: true },
  { argv: ["/bin/sleep", "4"], stays: true },
  {
    argv: [
      "/bin/sh",
      "-c",
      "trap 'echo INT; exit 8' INT; echo ready; i=0; while [ $i -lt 80 ]; do sleep 0.05; i=$((i+1)); done",
    ],
    stays: true,
    ready: "ready",
  },
];

/** The fixture with these arguments. */
export function fixtureOf(argv: unknown): Fixture | undefined {
  return FIXTURES.find((fixture) => JSON.stringify(fixture.argv) === JSON.stringify(argv));
}
