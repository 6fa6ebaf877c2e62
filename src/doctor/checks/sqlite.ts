import Database from 'better-sqlite3';
import { bothRoles, type Check, ok } from '../check.js';

export const sqliteCheck: Check = {
  name: 'SQLite library',
  roles: bothRoles,
  look: () => {
    const db = new Database(':memory:');
    const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get();
    db.close();
    return ok(`SQLite ${version} loads`);
  },
};
