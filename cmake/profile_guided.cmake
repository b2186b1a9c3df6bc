# DLASIM_PROFILE_GUIDED: a first build of the program counts how often each way through it is taken while it runs every model and three
# networks; the compiler makes this build with that knowledge. For packages, and for machines that run sweeps for hours: docs/ACCURACY.md.
option(DLASIM_PROFILE_GUIDED "build twice: the second time with what the program does when it runs" OFF)
if(NOT DLASIM_PROFILE_GUIDED)
    return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    message(FATAL_ERROR "DLASIM_PROFILE_GUIDED needs GCC and the build type Release, found ${CMAKE_CXX_COMPILER_ID} and ${CMAKE_BUILD_TYPE}")
endif()

set(profile ${PROJECT_BINARY_DIR}/profile)
if(NOT EXISTS ${profile}/counted)
    message(STATUS "The program that counts: ${profile}/build, some minutes")
    file(REMOVE_RECURSE ${profile})
    function(must)
        execute_process(COMMAND ${ARGN} OUTPUT_FILE ${profile}/log ERROR_FILE ${profile}/log RESULT_VARIABLE failed)
        if(failed)
            file(READ ${profile}/log log)
            message(FATAL_ERROR "${ARGN} ends with ${failed}:\n${log}")
        endif()
    endfunction()
    file(MAKE_DIRECTORY ${profile})
    must(${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${profile}/build -G ${CMAKE_GENERATOR} -DCMAKE_BUILD_TYPE=Release -DDLASIM_TESTS=OFF
        -DDLASIM_PROFILE_GUIDED=OFF -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}"
        "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS} -fprofile-generate=${profile}/counts -fprofile-prefix-path=${profile}/build -fprofile-update=single")
    must(${CMAKE_COMMAND} --build ${profile}/build --target dlasim)
    file(GLOB layers ${PROJECT_SOURCE_DIR}/models/*.json)
    foreach(layer ${layers})
        must(${profile}/build/dlasim run ${layer} --hw nv_full --out ${profile}/out)
    endforeach()
    foreach(run resnet18:nv_small:ideal resnet18:nv_large:ddr4-3200 squeezenet_v1_1:nv_small:ddr4-3200 squeezenet_v1_1:nv_large:ideal
            mobilenet_v1:nv_large:ideal mobilenet_v1:nv_large:ddr4-3200)
        string(REPLACE ":" ";" run ${run})
        list(GET run 0 network)
        list(GET run 1 machine)
        list(GET run 2 memory)
        foreach(values "" --timing-only)
            must(${profile}/build/dlasim run ${PROJECT_SOURCE_DIR}/models/networks/${network}.json --hw ${machine} --memory ${memory}
                --out ${profile}/out ${values})
        endforeach()
    endforeach()
    file(REMOVE_RECURSE ${profile}/build ${profile}/out)
    file(TOUCH ${profile}/counted)
endif()
# Functions that have changed since the profile was recorded are compiled without it: remove the folder `profile` to record it again.
add_compile_options(-fprofile-use=${profile}/counts -fprofile-prefix-path=${PROJECT_BINARY_DIR} -fprofile-correction
    -Wno-missing-profile -Wno-coverage-mismatch)
