# Measured cases of the reference hardware: the committed ones by configuration, and all of them where
# ../shared is there.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET dlasim)
    file(GLOB configurations RELATIVE ${PROJECT_SOURCE_DIR}/tests/data/rtl ${PROJECT_SOURCE_DIR}/tests/data/rtl/*)
    foreach(configuration ${configurations})
        add_test(NAME measured.${configuration}
                 COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/accuracy.py --dlasim $<TARGET_FILE:dlasim>
                         --jobs 1 --leap-law --known-gaps ${CMAKE_CURRENT_SOURCE_DIR}/known_gaps.txt
                         ${PROJECT_SOURCE_DIR}/tests/data/rtl/${configuration})
        set_tests_properties(measured.${configuration} PROPERTIES LABELS rtl TIMEOUT 1200)
    endforeach()
    if(EXISTS ${PROJECT_SOURCE_DIR}/../shared/rtl_timing)
        add_test(NAME measured.all
                 COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/accuracy.py --dlasim $<TARGET_FILE:dlasim>
                         --jobs 1 --known-gaps ${CMAKE_CURRENT_SOURCE_DIR}/known_gaps.txt ${PROJECT_SOURCE_DIR}/../shared/rtl_timing)
        set_tests_properties(measured.all PROPERTIES LABELS rtl TIMEOUT 2400)
    endif()
endif()
