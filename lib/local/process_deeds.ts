import { checkedSignalName } from "../process/signal_name.ts";
import type { ProcessTable } from "../process/process_table.ts";
import type { Deeds } from "./local_calls.ts";

/** What can be done to the processes of a table; starting one is `local_processes.ts`'s. */
export function processDeeds(table: ProcessTable): Deeds {
  return {
    "process/read": (params, signal) => table.read(params, signal),
    "process/write": async (params, signal) => ({ status: await table.write(params, signal) }),
    "process/signal": ({ processId }) => {
      table.interrupt(processId);
      return {};
    },
    "process/terminate": ({ processId }) => ({ running: table.terminate(processId) }),
    "execServer/process/closeStdin": ({ processId }) => ({
      status: table.known(processId)?.closeStdin() ?? "unknownProcess",
    }),
    "execServer/process/resize": ({ processId, size }) => {
      table.get(processId).resize(size);
      return {};
    },
    "execServer/process/signal": ({ processId, signal }) => ({
      running: table.get(processId).signal(checkedSignalName(signal)),
    }),
    "execServer/process/holdOutput": ({ processId, hold }) => {
      table.get(processId).hold(hold);
      return {};
    },
    "execServer/process/status": ({ processId }) => table.get(processId).summary,
  };
}
