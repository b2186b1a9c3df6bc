# Random programs of every kind against the executable models of the specification.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET dlasim)
    add_test(NAME cross_check
             COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/cross_check.py --dlasim $<TARGET_FILE:dlasim> --count 1)
    set_tests_properties(cross_check PROPERTIES LABELS rtl TIMEOUT 2400 COST 100)
endif()
