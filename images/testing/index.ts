/** What tests that run the images can use. */
export { password, people, sssdConf } from './people.ts';
