import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..')

/** Folder of the shipped embedding model. */
export const DEFAULT_MODEL = join(root, 'models', 'default')

/** Folders with real tokenizers and graph shapes, outside the repository and often absent. */
export const MODEL_FIXTURES =
  process.env.MB_TEST_MODELS ?? join(root, '..', 'shared', 'models-for-tests')

export const hasModelFixtures = existsSync(MODEL_FIXTURES)

export function sayWhenAbsent(): void {
  if (hasModelFixtures) return
  process.stderr.write(`skipping the model fixtures: no folder ${MODEL_FIXTURES}\n`)
}
