import type { Module } from '../module.ts'
import { moduleRule, type Rule } from '../rule.ts'
import { isTest, zoneOf } from '../zones.ts'

/** Packages that belong to some files of src/ alone. */
const HOMES = [
  {
    name: 'elysia stays at the edge',
    packages: /^(elysia|@elysiajs\/.+)$/,
    allowed: ({ path }: Module) => ['routes', 'http', 'surface', 'app'].includes(zoneOf(path)),
    mend: 'only app.ts, http/ and features/*/routes.ts import it; return plain values instead',
  },
  {
    name: 'drivers stay in their adapters',
    packages: /^(bun:sqlite|sqlite-vec|onnxruntime-node)(\/.*)?$/,
    allowed: ({ path }: Module) => zoneOf(path) === 'adapter',
    mend: 'only the adapter below storage/ or channels/ imports its driver; use the port',
  },
] as const

export const packageRules: readonly Rule[] = HOMES.map(({ name, packages, allowed, mend }) =>
  moduleRule(name, (module) =>
    !module.path.startsWith('src/') || isTest(module.path) || allowed(module)
      ? []
      : module.imports
          .filter(({ specifier }) => packages.test(specifier))
          .map(({ specifier, line }) => ({
            path: module.path,
            line,
            message: `imports ${specifier}: ${mend}`,
          })),
  ),
)
