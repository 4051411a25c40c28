/**
 * `Symbol.dispose` and `Symbol.asyncDispose` for engines without them, such as Safari's. Imported before all that has
 * methods of these names: a class that is defined earlier would call them `undefined`.
 */
addDisposeSymbols(Symbol);

export function addDisposeSymbols(symbols: object): void {
  for (const name of ["dispose", "asyncDispose"]) {
    if (!(name in symbols)) Object.defineProperty(symbols, name, { value: Symbol(`Symbol.${name}`) });
  }
}
