// Writes the icons of the installed console. See --help.
import { join } from 'node:path'
import { launch } from '../test/support/chromium.ts'
import { readArguments, runScript } from './usage.ts'

const HELP = `Writes web/icons/icon-SIZE.png, drawn from web/icons/icon.svg by the Chromium of this
machine. Run it after a change of the drawing.

  bun scripts/make-icons.ts
`

/** The size for iPhones, and those that browsers want of a web app. */
const SIZES = [180, 192, 512]

const folder = join(import.meta.dir, '..', 'web', 'icons')

async function main(args: string[]): Promise<void> {
  readArguments({ args, options: {} })
  const drawing = await Bun.file(join(folder, 'icon.svg')).text()
  const browser = await launch()
  for (const size of SIZES) {
    const page = await browser.newPage({ viewport: { width: size, height: size } })
    await page.setContent(`<body style="margin:0">${drawing}</body>`)
    await page.screenshot({ path: join(folder, `icon-${size}.png`) })
  }
  await browser.close()
}

if (import.meta.main) await runScript(HELP, main)
