import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BunPlugin } from 'bun'

/** Mermaid's layout by ELK is left out: it is under another licence, and a third of the whole. */
const withoutElk: BunPlugin = {
  name: 'without-elk',
  setup(build) {
    build.onLoad({ filter: /elkjs\/lib\/elk\.bundled\.js$/ }, () => ({
      contents: 'export default class { layout() { throw new Error("no layout named elk") } }',
      loader: 'js',
    }))
  },
}

async function scriptOf(path: string): Promise<{ readonly name: string; readonly text: string }> {
  const { outputs } = await Bun.build({
    entrypoints: [path],
    target: 'browser',
    minify: true,
    format: 'iife',
    naming: '[name]-[hash].[ext]',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [withoutElk],
  })
  const [output] = outputs
  if (!output) throw new Error(`nothing was built of ${path}`)
  return { name: basename(output.path), text: await output.text() }
}

/**
 * Writes the page of frames and its scripts into `folder`. The libraries are stored compressed
 * alone: plain they would be most of the executable's console. Resolves with the address that the
 * console uses, which changes with the content.
 */
export async function buildFrame(folder: string, from: string): Promise<string> {
  const names = ['frame.ts', 'mermaid.ts', 'vega.ts']
  const scripts = await Promise.all(names.map((name) => scriptOf(join(from, name))))
  let html = readFileSync(join(from, 'frame.html'), 'utf8')
  for (const [at, { name, text }] of scripts.entries()) {
    writeFileSync(join(folder, 'assets', `${name}.gz`), gzipSync(text, { level: 9 }))
    html = html.replace(`./${names[at]}`, `/assets/${name}`)
  }
  writeFileSync(join(folder, 'frame.html'), html)
  const hash = new Bun.CryptoHasher('sha256').update(html).digest('hex')
  return `/frame?v=${hash.slice(0, 8)}`
}
