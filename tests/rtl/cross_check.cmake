# Random programs of every kind against the executable models of the specification: on a sixth of the machines, and on all.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET dlasim)
    add_test(NAME cross_check
             COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/cross_check.py --dlasim $<TARGET_FILE:dlasim> --every 6)
    set_tests_properties(cross_check PROPERTIES LABELS rtl TIMEOUT 2400)
    add_test(NAME cross_check_all COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/cross_check.py --dlasim $<TARGET_FILE:dlasim>)
    set_tests_properties(cross_check_all PROPERTIES LABELS long TIMEOUT 2400)
endif()
