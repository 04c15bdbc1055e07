// What every page of the book does for its reader, without Python: quizzes, predictions, how far one is, previews
// of links, print.
import { cards } from "./cards.js";
import { followContents } from "./contents.js";
import { predictions } from "./predict.js";
import { previews } from "./previews.js";
import { openInPrint } from "./print.js";
import { quizzes } from "./quiz.js";
import { keepPlace } from "./place.js";

quizzes();
predictions();
keepPlace();
followContents();
cards();
previews();
openInPrint();
