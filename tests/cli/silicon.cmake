if(TARGET dlasim)
    foreach(case Machines Runs Invariants)
        add_test(NAME Silicon.${case} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/silicon_test.py $<TARGET_FILE:dlasim> ${case})
        set_tests_properties(Silicon.${case} PROPERTIES LABELS quick TIMEOUT 900)
    endforeach()
    set_tests_properties(Silicon.Invariants PROPERTIES LABELS golden)  # much time under sanitizers
    # Every layer, network and compiler file, on every preset that takes it, with values and without.
    add_test(NAME Silicon.Everything COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/silicon_test.py $<TARGET_FILE:dlasim> Everything)
    set_tests_properties(Silicon.Everything PROPERTIES LABELS long TIMEOUT 20000)
    # Simulates ResNet-50 on seven machines and fits: the goals of docs/howto/CHOOSE.md.
    add_test(NAME Silicon.Fit COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/fit_silicon.py --dlasim $<TARGET_FILE:dlasim>)
    set_tests_properties(Silicon.Fit PROPERTIES LABELS long TIMEOUT 3600)
endif()
if(TARGET dlasim)
    add_test(NAME Sweep.Machines COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/machines_test.py $<TARGET_FILE:dlasim> Machines)
    set_tests_properties(Sweep.Machines PROPERTIES LABELS golden TIMEOUT 900)  # minutes under sanitizers
    add_test(NAME Sweep.Camera COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/camera_test.py $<TARGET_FILE:dlasim> Camera)
    set_tests_properties(Sweep.Camera PROPERTIES LABELS golden TIMEOUT 600)
    foreach(case Names Requirements)
        add_test(NAME Machine.${case} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/machine_names_test.py $<TARGET_FILE:dlasim> ${case})
        set_tests_properties(Machine.${case} PROPERTIES LABELS quick TIMEOUT 300)
    endforeach()
endif()
