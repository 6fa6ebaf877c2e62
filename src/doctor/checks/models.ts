import { readdir } from 'node:fs/promises';
import { bothRoles, type Check, failed, ok, warning } from '../check.js';

export const modelsCheck: Check = {
  name: 'models',
  roles: bothRoles,
  look: async ({ models }) => {
    let count = 0;
    for (const folder of models) {
      try {
        const names = await readdir(folder);
        count += names.filter((name) => name.endsWith('.gguf')).length;
      } catch (error) {
        return failed(
          `${folder} cannot be read (${(error as Error).message})`,
          'let this user read it, or leave it out of --models',
        );
      }
    }
    const where = models.join(', ');
    if (count > 0) return ok(`${count} GGUF files directly in ${where}`);
    return warning(`no GGUF file directly in ${where}`, 'name the folder with your models with --models');
  },
};
