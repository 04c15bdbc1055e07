"""What a shell offers where a lesson or an exercise is to be named; this is imported at every start of a command."""

from __future__ import annotations

import typer

from autograder.commands.courses import UNTRUSTED


def lessons_and_exercises(context: typer.Context, incomplete: str) -> list[str]:
    """`ch06/relu_vjp` for `ch06/re`, the lesson as it was typed; lessons as long as there is no slash."""
    from course.syllabus import syllabus

    if context.meta.get(UNTRUSTED):
        return []
    begun, slash, _ = incomplete.partition("/")
    if not slash:
        return lessons(context, incomplete)
    meant = [lesson for slug, lesson in syllabus().items() if begun in (slug, slug.partition("_")[0])]
    names = [f"{begun}/{exercise.name}" for lesson in meant for exercise in lesson.exercises]
    return [name for name in names if name.startswith(incomplete)]


def lessons(context: typer.Context, incomplete: str) -> list[str]:
    """Lessons by number, and by their whole names once one of those is begun; none of a course that is not trusted."""
    from course.syllabus import syllabus

    if context.meta.get(UNTRUSTED):
        return []
    names = syllabus() if "_" in incomplete else [slug.partition("_")[0] for slug in syllabus()]
    return [name for name in names if name.startswith(incomplete)]
