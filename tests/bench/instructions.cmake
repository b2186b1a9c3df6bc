# Not in tests of every day: two minutes of valgrind. A machine without it fails the test.
add_test(NAME Instructions.as_recorded
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/instructions.py $<TARGET_FILE:dlasim>
        --recorded ${PROJECT_SOURCE_DIR}/tests/data/instructions.json)
set_tests_properties(Instructions.as_recorded PROPERTIES LABELS long TIMEOUT 1500)
