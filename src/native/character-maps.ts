import { join } from 'node:path'
import { embeddedMaps } from './embedded-maps.ts'

const PACKAGE = join(import.meta.dir, '../../node_modules/pdfjs-dist/cmaps')

/** A character map of Adobe by its name, such as `Adobe-GB1-UCS2.bcmap`. */
export async function readCharacterMap(name: string): Promise<Uint8Array> {
  // The name comes from an untrusted file.
  if (!/^[\w-]+\.bcmap$/.test(name)) throw new Error('no name of a character map')
  const path = embeddedMaps ? embeddedMaps[name] : join(PACKAGE, name)
  if (path === undefined) throw new Error('no such character map')
  return await Bun.file(path).bytes()
}
