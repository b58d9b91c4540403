import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder extends Disposable {
  readonly path: string
  /** The path of a file in the folder. */
  file(...parts: string[]): string
}

/** A new empty folder, removed at the end of the scope: `using folder = tempFolder()`. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'moonbase-test-'))
  return {
    path,
    file: (...parts) => join(path, ...parts),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
