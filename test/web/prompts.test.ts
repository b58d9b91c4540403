import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb, soon } from './setup.ts'
import { field, useStudio } from './studio-page.ts'

describeWeb('prompts', () => {
  const at = useStudio()

  test('are written, changed, used in the chat and deleted', async () => {
    await using guest = await at.open()
    const { page } = guest
    const dialog = page.getByRole('dialog')
    const write = async (label: string, text: string) =>
      dialog.getByRole('textbox', { name: label }).fill(text)
    await page.goto('/app/prompts')
    await page.getByText(en['prompts.empty'], { exact: true }).waitFor()
    await page.getByRole('button', { name: en['prompts.new'] }).click()
    const save = dialog.getByRole('button', { name: en['action.save'] })
    await write(en['field.name'], 'Sum up')
    await dialog.getByText(en['prompts.name.wrong']).waitFor()
    await write(en['field.name'], 'sum-up')
    await save.press('Enter')
    const text = dialog.getByRole('textbox', { name: en['prompts.text'] })
    const said = dialog.getByRole('alert').filter({ hasText: en['form.missing'] })
    await said.waitFor()
    expect(await text.getAttribute('aria-describedby')).toBe(await said.getAttribute('id'))
    expect(await text.evaluate((one) => one === document.activeElement)).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
    await write(en['prompts.text'], 'Sum up for {{reader}}')
    expect(await seriousFindings(page)).toEqual([])
    await save.press('Enter')
    await page.getByRole('heading', { name: '/sum-up' }).waitFor()

    // Its name is taken.
    await page.getByRole('button', { name: en['prompts.new'] }).click()
    await write(en['field.name'], 'sum-up')
    await write(en['prompts.text'], 'Another')
    await save.press('Enter')
    const told = page.getByRole('region', { name: en['state.messages'] }).getByText(/name/i)
    await told.waitFor()
    // It stands in the dialog, which is why it cannot be saved, and below its buttons.
    const under = async () => {
      const [message, box, button] = await Promise.all(
        [told, dialog, save].map((one) => one.boundingBox()),
      )
      if (!message || !box || !button) return false
      const end = message.y + message.height
      return message.y > button.y + button.height && end < box.y + box.height
    }
    await soon(under, true)
    await dialog.getByRole('button', { name: en['action.cancel'] }).click()

    const named = (text: string) => text.replace('{name}', 'sum-up')
    await page.getByRole('button', { name: named(en['prompts.edit.one']) }).click()
    await write(en['prompts.text'], 'Sum up briefly for {{reader}}')
    await save.press('Enter')
    await page.getByText('Sum up briefly for {{reader}}').waitFor()
    expect(await seriousFindings(page)).toEqual([])

    await page.goto('/app')
    await field(page).fill('/sum')
    await page.getByRole('option', { name: '/sum-up' }).waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByLabel('reader').fill('my boss')
    await page.keyboard.press('Enter')
    await page.getByText('Sum up briefly for my boss').waitFor()

    await page.goto('/app/prompts')
    await page.getByRole('button', { name: named(en['prompts.delete.title']) }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: en['action.delete'] }).click()
    await page.getByText(en['prompts.empty'], { exact: true }).waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
