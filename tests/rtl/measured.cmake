# Measured cases of the reference hardware, a test a configuration: every event in its cycle, skipping time, one case of eight stepping too,
# all of them in the label long; of two, the runs of all gated clocks. With sanitizers one case of 25 instead, which is quick: they run the
# whole machine.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET dlasim AND DLASIM_SANITIZE)
    add_test(NAME measured.some
             COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/accuracy.py --dlasim $<TARGET_FILE:dlasim> --jobs 1 --every 25 --leap-law 1
                     ${DLASIM_TEST_DATA}/rtl)
    set_tests_properties(measured.some PROPERTIES LABELS quick TIMEOUT 1200)
    add_dependencies(quick_tests test_data)
elseif(TARGET dlasim)
    foreach(configuration nv_full nv_large nv_medium_512 nv_small nv_small_256)
        set(clocks)
        if(configuration MATCHES "^nv_(small|large)$")
            set(clocks --clocks ${DLASIM_TEST_DATA}/clock_gating/${configuration}.json)
        endif()
        add_test(NAME measured.${configuration}
                 COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/accuracy.py --dlasim $<TARGET_FILE:dlasim>
                         --jobs 1 --known-gaps ${CMAKE_CURRENT_SOURCE_DIR}/known_gaps.txt ${clocks}
                         --leap-law 8 ${DLASIM_TEST_DATA}/rtl/${configuration})
        set_tests_properties(measured.${configuration} PROPERTIES LABELS rtl TIMEOUT 1200 COST 100)
        add_test(NAME measured.${configuration}_stepping
                 COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/accuracy.py --dlasim $<TARGET_FILE:dlasim>
                         --jobs 1 --known-gaps ${CMAKE_CURRENT_SOURCE_DIR}/known_gaps.txt --leap-law 1 ${DLASIM_TEST_DATA}/rtl/${configuration})
        set_tests_properties(measured.${configuration}_stepping PROPERTIES LABELS long TIMEOUT 3000)
    endforeach()
endif()
