import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { PICTURE_BYTES_MAX } from '../../src/core/limits/contract.ts'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { tempFolder } from '../support/temp.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, useStudio } from './studio-page.ts'

const texts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `Note ${at}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`Note ${at}`),
  }))

describeWeb('what is put beside a question', () => {
  const at = useStudio()
  const add = (page: Page) => page.getByRole('button', { name: en['studio.add'], exact: true })
  const item = async (page: Page, name: string) => {
    await add(page).click()
    await page.getByRole('menuitem', { name }).click()
  }
  const cards = (page: Page) => page.getByRole('list', { name: en['studio.attached'] })

  /** What the page sends for questions. */
  function sentBy(page: Page) {
    const sent: Record<string, unknown>[] = []
    page.on('request', (request) => {
      if (!request.url().endsWith('/console/agent')) return
      sent.push(request.postDataJSON() as Record<string, unknown>)
    })
    return sent
  }

  test('a question waits for a picture that is being drawn smaller', async () => {
    await using guest = await at.open()
    const { page } = guest
    const sent = sentBy(page)
    await page.evaluate(() => {
      const { promise, resolve } = Promise.withResolvers<ImageBitmap>()
      window.createImageBitmap = () => promise
      addEventListener('drawn', () =>
        resolve(Object.assign(document.createElement('canvas'), { close() {} }) as never),
      )
    })
    const buffer = Buffer.alloc(PICTURE_BYTES_MAX + 1)
    const file = { name: 'lamp.png', mimeType: 'image/png', buffer }
    await page.locator('form.composer input[type=file]').setInputFiles(file)
    await field(page).fill('Which lamp is this?')
    await page.keyboard.press('Enter')
    await page.getByText(en['studio.queued.files']).waitFor()
    expect(sent).toEqual([])
    await page.evaluate(() => dispatchEvent(new Event('drawn')))
    await soon(async () => sent.map(({ images }) => (images as string[]).length), [1])
  }, 60_000)

  test('a collection is named in the question, and holds for this one alone', async () => {
    const call = caller(`${at.world.app.url}/console`, at.session.headers)
    const made = await call('POST', '/kb/collections', { name: 'Contracts of 2026' })
    await using guest = await at.open()
    const { page } = guest
    const sent = sentBy(page)
    await field(page).fill('What is agreed? #con')
    const option = page.getByRole('option', { name: '#Contracts of 2026' })
    await option.waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    const scope = page.getByRole('list', { name: en['studio.scope'] })
    await scope.getByText('Contracts of 2026').waitFor()
    await soon(() => field(page).inputValue(), 'What is agreed? ')
    expect(await seriousFindings(page)).toEqual([])
    await field(page).press('Enter')
    await scope.waitFor({ state: 'detached' })
    await ended(page.locator('li.turn', { hasText: 'What is agreed?' }))
    await ended(await ask(page, 'And what else is there?'))
    const { id } = JSON.parse(made.text) as { id: string }
    expect(sent.map(({ collections }) => collections)).toEqual([[id], undefined])
    await field(page).fill('C# or #nothing')
    await option.waitFor({ state: 'detached' })
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('tools are chosen for the next questions, and taken back', async () => {
    await using guest = await at.open()
    const { page } = guest
    const sent = sentBy(page)
    await item(page, en['studio.add.tools'])
    const dialog = page.getByRole('dialog', { name: en['studio.tools.title'] })
    await dialog.getByLabel(en['apps.tools.every']).click()
    await dialog.getByLabel('calculator').uncheck()
    expect(await seriousFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: en['action.close'] }).last().click()
    await ended(await ask(page, 'How much is it?'))
    const { tools_enabled: tools } = (sent[0] as { draft: { tools_enabled: string[] } }).draft
    expect(tools).toContain('current_time')
    expect(tools).not.toContain('calculator')
    await page.getByRole('button', { name: en['studio.scope.tools.drop'] }).click()
    await ended(await ask(page, 'How much is it now?'))
    expect(sent[1]?.draft ?? null).toBe(null)
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a model is chosen for itself, and no assistant of its own is made of it', async () => {
    await using guest = await at.open()
    const { page } = guest
    const sent = sentBy(page)
    await page.route('**/console/models', (route) => route.fulfill({ json: { models: ['small'] } }))
    const pick = async (model: string) => {
      await page.locator('.picker').click()
      await page.getByRole('menuitemradio', { name: model, exact: true }).click()
    }
    await pick('small')
    await ended(await ask(page, 'Who are you?'))
    await pick(en['studio.models.usual'])
    await ended(await ask(page, 'And who now?'))
    expect(sent.map(({ model, draft }) => [model, draft])).toEqual([
      ['small', undefined],
      [undefined, undefined],
    ])
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a folder is dropped or chosen, up to five files a question', async () => {
    using folder = tempFolder()
    mkdirSync(join(folder.path, 'letters/old'), { recursive: true })
    writeFileSync(join(folder.path, 'letters/One.txt'), 'One')
    writeFileSync(join(folder.path, 'letters/.hidden.txt'), 'Hidden')
    writeFileSync(join(folder.path, 'letters/old/Two.txt'), 'Two')
    await using guest = await at.open()
    const { page } = guest
    const mouse = await page.context().newCDPSession(page)
    const files = [join(folder.path, 'letters')]
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      const data = { items: [], files, dragOperationsMask: 1 }
      await mouse.send('Input.dispatchDragEvent', { type, x: 600, y: 300, data })
    }
    for (const name of ['One.txt', 'Two.txt']) await cards(page).getByText(name).waitFor()
    expect(await cards(page).getByRole('listitem').count()).toBe(2)

    await page.locator('form.composer input[type=file]').setInputFiles(texts(4))
    await page.getByText(en['studio.files.many'].replace('{max}', '5')).waitFor()
    expect(await cards(page).getByRole('listitem').count()).toBe(5)
    expect(await seriousFindings(page)).toEqual([])
    // They stay with what is written, also when it is left.
    await page.getByRole('button', { name: en['temporary.switch'] }).click()
    await cards(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: en['temporary.switch'] }).click()
    await soon(() => cards(page).getByRole('listitem').count(), 5)
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      item(page, en['studio.add.folder']),
    ])
    expect(await chooser.element().getAttribute('webkitdirectory')).toBe('')
  }, 60_000)

  test('the Enter that takes a word of an input method sends nothing, in Safari too', async () => {
    await using guest = await at.open()
    const { page } = guest
    const sent = sentBy(page)
    await field(page).fill('ni hao')
    await field(page).evaluate((element) => {
      const key = { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }
      element.dispatchEvent(new KeyboardEvent('keydown', key))
    })
    expect(await field(page).inputValue()).toBe('ni hao')
    expect(sent).toEqual([])
  })

  test('of cells that are pasted the words are taken, and of a picture the picture', async () => {
    await using guest = await at.open()
    const { page } = guest
    /** Whether the field itself takes what is pasted. */
    const paste = (words: Record<string, string>) =>
      field(page).evaluate(async (element, given) => {
        const clipboardData = new DataTransfer()
        for (const [type, text] of Object.entries(given)) clipboardData.setData(type, text)
        const canvas = new OffscreenCanvas(8, 8)
        canvas.getContext('2d')
        const picture = await canvas.convertToBlob()
        clipboardData.items.add(new File([picture], 'cells.png', { type: 'image/png' }))
        const pasted = { clipboardData, bubbles: true, cancelable: true }
        return element.dispatchEvent(new ClipboardEvent('paste', pasted))
      }, words)
    const thumbs = page.locator('form.composer img')
    expect(await paste({ 'text/plain': 'a\tb', 'text/html': '<table><tr><td>a</table>' })).toBe(
      true,
    )
    expect(await paste({ 'text/html': '<img src="a.png">' })).toBe(false)
    await thumbs.first().waitFor()
    expect(await thumbs.count()).toBe(1)
  })

  test('a file that is gone is told, and asked for no more', async () => {
    await using guest = await at.open()
    const { page } = guest
    const [file] = texts(1)
    const path = '**/console/files'
    await page.route(path, (route) =>
      route.fulfill({
        status: 202,
        json: { id: 'f1', name: file?.name, bytes: 9, state: 'reading' },
      }),
    )
    let times = 0
    await page.route(`${path}/f1`, (route) => {
      times += 1
      const headers = { 'x-error-code': 'not_found', 'x-error-params': 'what=file' }
      return route.fulfill({ status: 404, contentType: 'text/plain', headers, body: '没有' })
    })
    await page.clock.install()
    await page.locator('form.composer input[type=file]').setInputFiles(file ? [file] : [])
    await cards(page).getByRole('alert').waitFor()
    await page.clock.runFor(10_000)
    expect(times).toBe(1)
  })

  test('a phone offers its camera in place of folders', async () => {
    const { world, session } = at
    const context = await at.browser.newContext({
      baseURL: world.app.url,
      locale: 'en-GB',
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    const [name = '', value = ''] = session.headers.cookie.split('=')
    await context.addCookies([{ name, value, url: world.app.url, httpOnly: true }])
    const page = await context.newPage()
    await page.goto('/app')
    await add(page).waitFor()
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      item(page, en['studio.add.camera']),
    ])
    expect(await chooser.element().getAttribute('capture')).toBe('environment')
    expect(await chooser.element().getAttribute('accept')).toBe('image/*')
    await add(page).click()
    expect(await page.getByRole('menuitem', { name: en['studio.add.folder'] }).count()).toBe(0)
    await context.close()
  }, 60_000)
})
