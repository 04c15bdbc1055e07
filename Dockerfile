# Two images. `grade` has the command backprop with the solutions and PyTorch's build for CPUs, for those who grade;
# `learn` serves the notebooks in a browser, and is made of a release, so that no answer is in it:
#
#   docker build --target grade -t backprop-grade .
#   docker build --target learn -t backprop-learn .     # --build-arg LESSONS="ch06 ch07" --build-arg TORCH=no
#
# The page "A class in ten minutes" of the book says how to run them, what was tried and what was not.

FROM python:3.13.9-slim-bookworm AS python
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN useradd --create-home --uid 1000 course && mkdir /work && chown course /work

# Everything that grades all lessons. PyTorch alone comes from the index of the CPU builds, which spares a GPU's
# gigabytes; what it needs comes from PyPI with the rest, as that index has not all of the pinned versions.
FROM python AS grade
COPY constraints.txt /course/
RUN pip install --no-deps --constraint /course/constraints.txt --index-url https://download.pytorch.org/whl/cpu torch
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE LICENSE-CC-BY-4.0 /course/
COPY autograder /course/autograder
COPY course /course/course
COPY solutions /course/solutions
COPY exercises /course/exercises
COPY book /course/book
RUN pip install --constraint /course/constraints.txt --editable '/course[torch,instructor,cluster]'
USER 1000
WORKDIR /work
ENTRYPOINT ["backprop"]
CMD ["--help"]

# The course as a class gets it. Answer books take a minute or two a lesson, but for those that lie beside the checks.
FROM grade AS released
ARG LESSONS=""
USER 0
# hadolint ignore=SC2086
RUN backprop release /released $LESSONS
USER 1000

FROM python AS learn
ARG TORCH=yes
COPY --from=released /released /course
RUN if [ "$TORCH" = yes ]; then \
      pip install --no-deps --constraint /course/constraints.txt --index-url https://download.pytorch.org/whl/cpu torch \
      && pip install --constraint /course/constraints.txt '/course[notebook,torch]'; \
    else \
      pip install --constraint /course/constraints.txt '/course[notebook]'; \
    fi
USER 1000
WORKDIR /work
EXPOSE 8888
CMD ["sh", "-c", "backprop start . && exec jupyter lab --ip=0.0.0.0 --port=8888 --no-browser"]
