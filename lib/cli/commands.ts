import type { Command, CommandEntry } from "./command.ts";

/** Every command, in the order of the overview. Each is loaded when it is picked. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "exec", load: async () => (await import("./exec.ts")).exec },
  { name: "shell", load: async () => (await import("./shell.ts")).shell },
  { name: "attach", load: async () => (await import("./attach.ts")).attach },
  { name: "ps", load: async () => (await import("./ps.ts")).ps },
  { name: "logs", load: async () => (await import("./logs.ts")).logs },
  { name: "kill", load: async () => (await import("./kill.ts")).kill },
  { name: "cp", load: async () => (await import("./cp.ts")).cp },
  { name: "ls", load: async () => (await import("./ls.ts")).ls },
  { name: "cat", load: async () => (await import("./cat.ts")).cat },
  { name: "doctor", load: async () => (await import("./doctor.ts")).doctor },
  { name: "forward", load: async () => (await import("./forward.ts")).forward },
  { name: "help", load: async () => (await import("./help_command.ts")).helpCommand(COMMANDS) },
  { name: "completions", load: async () => (await import("./completions.ts")).completionsCommand(loadCommands) },
];

/** All of them, for the overview and the completions. */
export function loadCommands(): Promise<Command[]> {
  return Promise.all(COMMANDS.map((entry) => entry.load()));
}
