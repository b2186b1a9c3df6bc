# Writes OUT: the commit of SOURCE as a C++ header, empty outside of a repository. Only if it has changed, so that nothing is built again.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit "")
endif()
set(text "#pragma once\n#define DLASIM_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUT})
    file(READ ${OUT} before)
endif()
if(NOT text STREQUAL before)
    file(WRITE ${OUT} "${text}")
endif()
