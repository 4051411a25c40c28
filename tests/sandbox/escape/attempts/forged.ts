/** Our own helper, which confines itself as a plan says and becomes a program: what a plan of one's own makes of it. */
import { launcherCommand } from "../../../../lib/sandbox/launcher_command.ts";
import { encodePlan } from "../../../../lib/sandbox/launcher/launch_plan.ts";
import type { Attempt } from "../attempt.ts";

export const FORGED: readonly Attempt[] = [
  {
    name: "start our launcher with a plan that confines nothing",
    topic: "forged policy",
    against: "files",
    needs: ["ownProgram"],
    async prepare(place) {
      const script = `echo ${place.run} >> ${place.out}/victim; cat ${place.ws}/denied/secret`;
      const program = { file: "/bin/sh", argv: ["sh", "-c", script], env: ["PATH=/usr/bin:/bin"], cwd: place.ws };
      const { argv, env } = launcherCommand();
      const words = [Object.entries(env).map(([name, value]) => `${name}=${value}`).join("\n"), ...argv];
      await Deno.writeFile(`${place.ws}/plan`, encodePlan({ confinement: { kind: "filters" }, filters: [], program }));
      await Deno.writeTextFile(`${place.ws}/launcher`, words.join("\0"));
    },
    script: `
      local $/; open(my $file, "<", "launcher"); my ($env, @command) = split /\\0/, <$file>;
      open(my $from, "<", "plan"); my $plan = <$from>; my $memory = call("memfd_create", "plan", 2);
      open(my $to, ">&=", $memory); syswrite($to, $plan); call("fcntl", $memory, 1033, 15);
      $memory == 3 ? call("fcntl", 3, 2, 0) : call("dup3", $memory, 3, 0);
      %ENV = map { split /=/, $_, 2 } split /\\n/, $env;
      my $code = system { $command[0] } @command; note("the launcher ended with ", $code >> 8);`,
  },
];
