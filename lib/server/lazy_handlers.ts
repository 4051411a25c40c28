import type { RequestName } from "../protocol/methods.ts";
import { lazily } from "../lazily.ts";
import type { Handler } from "./handler.ts";

type Table<M extends RequestName> = { readonly [N in M]: Handler<N> };

/**
 * Handlers whose module is loaded with the first request for one of them, so that a server starts without them. Requests
 * that come meanwhile wait, and keep their order.
 *
 * @param load Called once, or again after it has failed.
 */
export function lazyHandlers<const M extends RequestName>(
  names: readonly M[],
  load: () => Promise<Table<M>>,
): Table<M> {
  let loaded: Table<M> | undefined;
  const begin = lazily(async () => loaded = await load());
  const handler = <N extends M>(name: N): Handler<N> => (params, context) => {
    if (loaded !== undefined) return loaded[name](params, context);
    return begin().then((table) => table[name](params, context));
  };
  return Object.fromEntries(names.map((name) => [name, handler(name)])) as unknown as Table<M>;
}
