if(TARGET dlasim_library)
    add_test(NAME consumer.installed_library COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/run.sh ${PROJECT_SOURCE_DIR}/tests/consumer ${PROJECT_BINARY_DIR})
    set_tests_properties(consumer.installed_library PROPERTIES LABELS golden TIMEOUT 600)
endif()
