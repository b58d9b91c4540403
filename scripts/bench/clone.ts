import { join } from 'node:path'
import { ROOT } from '../../test/support/command.ts'
import { createKey } from '../../test/support/key.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { loadStreams } from './load-sse.ts'
import { agentTurns, type Product, type Upstream } from './programs.ts'
import type { Row } from './report.ts'

const TOKENS = 3

/**
 * What somebody waits for who has just cloned the repository: from `npm start` to the whole first
 * reply, with packages, web build and a key. Once, for the second time is another measure. npm
 * itself is left out, some tenths of a second, for a machine that has Bun needs none.
 */
export async function benchClone(upstream: Upstream, _: Product): Promise<Row[]> {
  using folder = tempFolder()
  const root = folder.file('clone')
  const git = Bun.which('git')
  if (!git || !Bun.spawnSync([git, 'clone', '--quiet', ROOT, root]).success) {
    process.stderr.write('clone is not measured: this folder could not be cloned by git\n')
    return []
  }
  const dataDir = join(root, 'data')
  const env = { MB_LLM_BASE_URL: `${upstream.url}/v1`, MB_LLM_MODEL: 'fake' }
  await upstream.plan({ tokens: TOKENS, delayMs: 0 })
  const begin = performance.now()
  await using server = await startServer({
    dataDir,
    env,
    cwd: root,
    command: [process.execPath, 'scripts/bootstrap.mjs', 'start'],
  })
  const { headers } = await createKey(dataDir, { env })
  await loadStreams(agentTurns(server.url, headers), { streams: 1, requests: 1, tokens: TOKENS })
  return [
    {
      measure: 'first reply of a fresh clone, packages cached',
      unit: 's',
      product: [(performance.now() - begin) / 1_000],
      reference: { name: '', values: [] },
      target: { atMost: 60 },
      absolute: true,
    },
  ]
}
