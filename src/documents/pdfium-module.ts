import { PDFiumModule } from '@hyzyla/pdfium'
import wasmPath from '@hyzyla/pdfium/pdfium.wasm' with { type: 'file' }
import { lazy } from '../core/lazy.ts'
import type { Pdfium, PdfiumExports } from './pdfium.ts'

async function open(): Promise<Pdfium> {
  const module = await PDFiumModule({
    wasmBinary: await Bun.file(wasmPath).arrayBuffer(),
    // It has the bytes: it looks for no file.
    locateFile: () => '',
  })
  // The wrapper types few of the functions that the module has.
  const calls = module.wasmExports as unknown as PdfiumExports
  calls.FPDF_InitLibrary()
  return { calls, memory: () => module.HEAPU8 as Uint8Array<ArrayBuffer> }
}

/** PDFium of this process, which is compiled at the first use. */
export const openPdfium = lazy(open)
